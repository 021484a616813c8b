"""The rules of the format. All that is wrong with a file is found at once.

The order is fixed: the parts of the file from the top (head, article, mark, times, presentation, links), then the
values of metas.

A violation keeps a file out of the memory; a warning does not. What a browser would fetch or run is a warning here,
because files of other writers may have it, and a refusal where we write (``gate.py``).
"""

from __future__ import annotations

import re
from itertools import chain, islice
from typing import TYPE_CHECKING

from fabula.memory.format.check_article import check_article, check_mark
from fabula.memory.format.check_head import check_head, check_links, check_values
from fabula.memory.format.findings import Finding
from fabula.memory.format.inert import active_attributes, is_inert
from fabula.memory.format.times import is_time
from fabula.memory.format.tree import DEEPEST
from fabula.memory.format.vocabulary import (
    FIGURE_ONLY,
    FORBIDDEN,
    FORBIDDEN_ATTRIBUTES,
    KNOWN_ELEMENTS,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fabula.memory.format.source import Place, Source
    from fabula.memory.format.tree import Element, Tree

#: More findings than these of one file help nobody.
MOST = 500
_LANGUAGE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_+#.-]*")
_TIME_FIX = "write 2026-05-14 or 2026-05-14T08:20:00Z"


def check(source: Source, tree: Tree) -> tuple[list[Finding], list[Finding]]:
    """Return the violations and the warnings of a document."""
    finder = _Finder(source, tree)
    violations = chain(
        finder.depth(),
        check_head(finder.place_of, tree),
        check_article(finder.place_of, tree),
        check_mark(finder.place_of, tree),
        finder.times(),
        finder.presentation(),
        check_links(finder.place_of, tree),
        check_values(finder.place_of, tree),
    )
    warnings = chain(finder.encoding(), finder.strange_elements(), finder.languages(), finder.active())
    return list(islice(violations, MOST)), list(islice(warnings, MOST))


class _Finder:
    """The rules that look at a whole document."""

    def __init__(self, source: Source, tree: Tree) -> None:
        self._source = source
        self._tree = tree

    def place_of(self, element: Element | None) -> Place:
        """Return the place of an element; the beginning of the file for what is missing or the parser put there."""
        span = element.start() if element is not None else None
        return self._source.place(span[0] if span is not None else 0)

    def depth(self) -> Iterator[Finding]:
        deep = self._tree.too_deep
        if deep is not None:
            message = f"elements lie more than {DEEPEST} deep in one another"
            yield Finding("file", message, self.place_of(deep), "take elements out of one another")

    def times(self) -> Iterator[Finding]:
        for element in self._tree.all("time"):
            when = element.attributes.get("datetime")
            if when is None:
                text = " ".join(element.own_text().split())[:40]
                yield self._found(
                    "times", f'<time> without datetime: "{text}"', element, f"{_TIME_FIX} as its datetime"
                )
            elif not is_time(when):
                yield self._found(
                    "times", f'<time datetime="{when}"> is not an ISO date or datetime', element, _TIME_FIX
                )

    def presentation(self) -> Iterator[Finding]:
        elements = [element for tag in FORBIDDEN for element in self._tree.all(tag)]
        for element in sorted(elements, key=lambda one: one.order):
            yield self._found("presentation", f"<{element.tag}> is forbidden", element, "remove the element")
        if not any(name in FORBIDDEN_ATTRIBUTES or name.startswith("on") for name in self._tree.attribute_names):
            return
        for element in self._tree.attributed:
            for name in element.attributes:
                if name in FORBIDDEN_ATTRIBUTES:
                    message = f"{name} attribute on <{element.tag}> is forbidden"
                elif name.startswith("on") and len(name) > 2:
                    message = f"{name} handler on <{element.tag}> is forbidden"
                else:
                    continue
                yield self._found("presentation", message, element, "remove the attribute")

    def encoding(self) -> Iterator[Finding]:
        at = self._source.first_bad_byte()
        if at is not None:
            message = "a byte that is not UTF-8: it reads as U+FFFD"
            yield Finding("file", message, self._source.place(at), "save the file as UTF-8")

    def strange_elements(self) -> Iterator[Finding]:
        strange = [elements[0] for tag, elements in self._tree.by_tag.items() if tag not in KNOWN_ELEMENTS]
        for element in strange:
            message = f"<{element.tag}> is not in the element vocabulary"
            group = "presentation" if is_inert(element.tag) else "active"
            yield self._found(group, message, element, "use an element of the format")
        figures = self._tree.all("figure")
        for tag in sorted(FIGURE_ONLY & self._tree.by_tag.keys()):
            inside = {one for figure in figures for one in self._tree.inside(figure, tag)}
            outside = next((one for one in self._tree.all(tag) if one not in inside), None)
            if outside is not None:
                yield self._found(
                    "presentation", f"<{tag}> outside <figure>", outside, "use it inside of a figure only"
                )

    def languages(self) -> Iterator[Finding]:
        said = set()
        for element in self._tree.all("code"):
            name = element.attributes.get("data-lang", "").strip()
            if name and name not in said and not _LANGUAGE.fullmatch(name):
                said.add(name)
                message = f'data-lang="{name}" is not a name of a language'
                yield self._found("presentation", message, element, "write one word, as python or c++")

    def active(self) -> Iterator[Finding]:
        for element, message in active_attributes(self._tree):
            yield self._found("active", message, element, "remove it: a memory loads and runs nothing")

    def _found(self, group: str, message: str, element: Element, fix: str) -> Finding:
        return Finding(group, message, self.place_of(element), fix)
