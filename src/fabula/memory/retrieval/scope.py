"""From a scope to one SQL condition on ``files``. Pure; every value is a parameter."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from fabula.memory.format.vocabulary import TYPES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from fabula.memory.retrieval.values import Scope

TASK: Final = "task"


def condition(scope: Scope) -> tuple[str, list[object]]:
    """Return the condition on ``files f`` and its parameters. Names that are blank, and unknown types, are ignored."""
    parts: list[str] = []
    values: list[object] = []

    def add(part: str, *given: object) -> None:
        parts.append(part)
        values.extend(given)

    if scope.as_of is not None:
        add("f.holds_from <= ? and (f.valid_until is null or f.valid_until > ?)", scope.as_of, scope.as_of)
    elif not scope.archived:
        add("f.archived = 0")
    types = [one for one in scope.types if one in TYPES]
    if types:
        add(f"f.type in ({_marks(types)})", *types)
    else:
        add("f.type <> ?", TASK)
    if scope.workspace is not None and scope.workspace.strip():
        add("f.workspace = ?", scope.workspace.strip())
    elif scope.home is not None:
        add("(f.workspace is null or f.workspace = ?)", scope.home)
    for part, given in _named(scope):
        add(part, *given)
    if scope.since is not None:
        add("f.holds_from >= ?", scope.since)
    if scope.until is not None:
        add("f.holds_from < ?", scope.until)
    return " and ".join(parts), values


def _named(scope: Scope) -> Iterator[tuple[str, list[str]]]:
    """Yield the conditions on tags, entities and facets."""
    for table, names in (("tags", _keys(scope.tags)), ("entities", _keys(scope.entities))):
        if names:
            yield f"exists(select 1 from {table} n where n.file_id = f.id and n.key in ({_marks(names)}))", names
    for facet in _keys(scope.facets):
        own = "exists(select 1 from facets n where n.file_id = f.id and"
        if "=" in facet:
            yield f"{own} n.key = ?)", [facet]
        else:  # every value of this name: ">" follows "=" in the order of characters
            yield f"{own} n.key > ? and n.key < ?)", [f"{facet}=", f"{facet}>"]


def _keys(names: Iterable[str]) -> list[str]:
    return [name.strip().casefold() for name in names if name.strip()]


def _marks(values: list[str]) -> str:
    return ",".join("?" * len(values))
