"""The rules of heads: the title, which metas there are, what they hold, and where links lead."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.memory.format.findings import Finding
from fabula.memory.format.paths import is_root_relative
from fabula.memory.format.times import is_time
from fabula.memory.format.vocabulary import (
    META_RANK,
    PREFIX,
    RELATIONS,
    REPEATABLE,
    REQUIRED,
    STATUSES,
    TASK_STATUSES,
    TIMES,
    TYPES,
    relation_of,
    token_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from fabula.memory.format.source import Place
    from fabula.memory.format.tree import Element, Tree

    PlaceOf = Callable[[Element | None], Place]

_TYPE, _STATUS, _TASK_STATUS = (PREFIX + name for name in ("type", "status", "task-status"))


def check_head(place_of: PlaceOf, tree: Tree) -> Iterator[Finding]:
    """Yield what is wrong with the title and with the set of metas."""
    titles, head, by_name = tree.all("title"), tree.head, tree.metas
    if len(titles) != 1:
        where = titles[1] if titles else head
        yield Finding(
            "head", f"{len(titles)} <title> elements, expected 1", place_of(where), "keep one title in the head"
        )
    elif not titles[0].own_text().strip():
        yield Finding("head", "empty <title>", place_of(titles[0]), "give the memory a title")
    for name in REQUIRED:
        if name not in by_name:
            fix = f'add <meta name="{name}" content="…"> to the head'
            yield Finding("head", f'missing required <meta name="{name}">', place_of(head), fix)
    for name, metas in by_name.items():
        if not name.startswith(PREFIX):
            continue
        if name not in META_RANK:
            message = f'<meta name="{name}"> is outside the closed metadata vocabulary'
            yield Finding("head", message, place_of(metas[0]), f"use a name that does not begin with {PREFIX}")
        elif len(metas) > 1 and name not in REPEATABLE:
            message = f'<meta name="{name}"> appears {len(metas)} times but is not repeatable'
            yield Finding("head", message, place_of(metas[1]), "keep one of them")


def check_links(place_of: PlaceOf, tree: Tree) -> Iterator[Finding]:
    """Yield what is wrong with the relations of a head."""
    for element in tree.in_head("link"):
        rel = element.attributes.get("rel", "")
        if not rel.startswith(PREFIX):
            continue
        href = element.attributes.get("href")
        if relation_of(rel) is None:
            message = f'<link rel="{rel}"> is outside the closed edge vocabulary'
            yield Finding("links", message, place_of(element), f"use one of {', '.join(map(token_of, RELATIONS))}")
        if not href:
            yield Finding(
                "links", f'<link rel="{rel}"> without href', place_of(element), "name the other memory's path"
            )
        elif not is_root_relative(href):
            message = f'<link rel="{rel}" href="{href}"> is not repo-root-relative'
            yield Finding("links", message, place_of(element), "write the path from the corpus's root, with / in front")


def check_values(place_of: PlaceOf, tree: Tree) -> Iterator[Finding]:
    """Yield what is wrong with the values of metas that have closed values."""
    metas = {name: found[0] for name, found in tree.metas.items()}
    kind = _content(metas, _TYPE)
    if kind is not None and kind not in TYPES:
        message = f'{_TYPE} "{kind}" is outside the type vocabulary'
        yield Finding("metas", message, place_of(metas[_TYPE]), f"use one of {', '.join(TYPES)}")
    status = _content(metas, _STATUS)
    if status is not None and status not in STATUSES:
        message = f'{_STATUS} "{status}" is neither active nor archived'
        yield Finding("metas", message, place_of(metas[_STATUS]), "use active or archived")
    yield from _check_task(place_of, metas, kind, tree.head)
    for name in TIMES:
        when = _content(metas, name)
        if when is not None and not is_time(when):
            message = f'{name} "{when}" is not an ISO date or datetime'
            yield Finding("metas", message, place_of(metas[name]), "write 2026-05-14 or 2026-05-14T08:20:00Z")


def _check_task(
    place_of: PlaceOf, metas: dict[str, Element], kind: str | None, head: Element | None
) -> Iterator[Finding]:
    task_status, choices = _content(metas, _TASK_STATUS), ", ".join(TASK_STATUSES)
    if task_status is None:
        if kind == "task":
            fix = f'add <meta name="{_TASK_STATUS}" content="todo">'
            yield Finding("metas", f"a task requires {_TASK_STATUS}", place_of(head), fix)
        return
    meta = metas[_TASK_STATUS]
    if task_status not in TASK_STATUSES:
        message = f'{_TASK_STATUS} "{task_status}" is outside the vocabulary: {choices}'
        yield Finding("metas", message, place_of(meta), f"use one of {choices}")
    if kind != "task":
        message = f'{_TASK_STATUS} on a memory of type "{kind}": only a task carries one'
        yield Finding("metas", message, place_of(meta), f"remove it, or make {_TYPE} task")


def _content(metas: dict[str, Element], name: str) -> str | None:
    return metas[name].attributes.get("content", "") if name in metas else None
