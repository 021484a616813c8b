"""The rules of articles: there is one, and it says one thing, marked, where the reader looks first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.memory.format.content import claim_without_code
from fabula.memory.format.findings import Finding

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from fabula.memory.format.source import Place
    from fabula.memory.format.tree import Element, Tree

    PlaceOf = Callable[[Element | None], Place]

_MARK_FIX = "mark the claim, once, in the first paragraph or list item"


def check_article(place_of: PlaceOf, tree: Tree) -> Iterator[Finding]:
    """Yield whether there is another number of articles than one."""
    articles = tree.all("article")
    if not articles:
        bodies = tree.all("body")
        where = place_of(bodies[0] if bodies else None)
        yield Finding("article", "no <article> element", where, "put the memory's text into one article")
    elif len(articles) > 1:
        message = f"{len(articles)} <article> elements, expected 1"
        yield Finding("article", message, place_of(articles[1]), "keep one fact in one file")


def check_mark(place_of: PlaceOf, tree: Tree) -> Iterator[Finding]:
    """Yield what is wrong with the mark of the one article."""
    articles = tree.all("article")
    if len(articles) != 1:
        return
    article = articles[0]
    marks = tree.inside(article, "mark")
    if len(marks) != 1:
        where, number = (
            (marks[1], f"{len(marks)} <mark> elements, expected 1") if marks else (article, "no <mark> element")
        )
        yield Finding("mark", number, place_of(where), _MARK_FIX)
        return
    mark = marks[0]
    if not claim_without_code(mark):
        yield Finding("mark", "empty <mark>: code alone is no claim", place_of(mark), "say the claim in words")
    folds = [tag for tag in ("aside", "details") if any(fold.holds(mark) for fold in tree.all(tag))]
    for fold in folds:
        yield Finding("mark", f"<mark> inside <{fold}>", place_of(mark), _MARK_FIX)
    if not folds:
        yield from _check_position(place_of, tree, article, mark)


def _check_position(place_of: PlaceOf, tree: Tree, article: Element, mark: Element) -> Iterator[Finding]:
    lines = tree.inside(article, "p") + tree.inside(article, "li")
    if not lines:
        yield Finding("mark", "<mark> outside any <p> or <li>", place_of(mark), _MARK_FIX)
        return
    first = min(lines, key=lambda one: one.order)
    if not first.holds(mark):
        yield Finding("mark", f"<mark> is not in the first <{first.tag}>", place_of(mark), _MARK_FIX)
