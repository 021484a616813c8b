"""The chain of a Claude Code transcript when records go: who hangs off whom, and what may not go.

``parentUuid`` links records; a compaction's boundary begins a new root whose ``logicalParentUuid`` names the old
leaf. Tool results hang off the record with their call, so parallel calls make a graph, not a list. Everything here is
pure and works on decoded values by their index; values that are no objects are passed over.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from fabula.hosts.claude.fields import dict_of, text_of
from fabula.record.rewriting.lines import edited
from fabula.record.rewriting.plan import Change

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from fabula.record.rewriting.plan import Snapshot

_KEPT_BY_WALL = (("preservedSegment", ("headUuid", "anchorUuid", "tailUuid")), ("preservedMessages", ("anchorUuid",)))
_LISTS_OF_WALL = ("uuids", "allUuids")


def is_wall(value: Mapping[str, Any]) -> bool:
    """Whether a value is the boundary that a compaction wrote."""
    return value.get("type") == "system" and value.get("subtype") == "compact_boundary"


def uuid_of(value: object) -> str:
    """Return a value's uuid, ``""`` where it has none."""
    return text_of(value.get("uuid")) if isinstance(value, dict) else ""


def relink(values: Sequence[Any], dropped: AbstractSet[int]) -> dict[int, str | None]:
    """Return the new parents of kept values whose parent goes: index → uuid of the nearest kept ancestor or ``None``.

    The way up leads through dropped records, and through a dropped wall to the old leaf. An ancestor that was never in
    the file (a session continued from another) stays named.
    """
    kept = _uuids(values, dropped, kept=True)
    above = {uuid: _above(values[index]) for uuid, index in _uuids(values, dropped, kept=False).items()}
    parents: dict[int, str | None] = {}
    for index, value in enumerate(values):
        if index in dropped or not isinstance(value, dict):
            continue
        parent = text_of(value.get("parentUuid"))
        if parent and parent not in kept and parent in above:
            parents[index] = _nearest(parent, kept, above)
    return parents


def _nearest(uuid: str, kept: Mapping[str, int], above: dict[str, str]) -> str | None:
    """Go up to a kept record. Whoever was met on the way points there afterwards, so that no way is gone twice."""
    met: dict[str, None] = {}
    while uuid and uuid not in kept and uuid in above and uuid not in met:
        met[uuid] = None
        uuid = above[uuid]
    found = uuid if uuid not in met else ""
    above.update(dict.fromkeys(met, found))
    return found or None


def protected(values: Sequence[Any], dropped: AbstractSet[int]) -> set[int]:
    """Return those of ``dropped`` that something kept refers to by name, directly or through another such record."""
    left = set(dropped)
    places: dict[str, list[int]] = {}
    for index in left:
        uuid = uuid_of(values[index])
        if uuid:
            places.setdefault(uuid, []).append(index)
    waiting = [index for index in range(len(values)) if index not in left]
    while waiting:
        for uuid in _references(values[waiting.pop()]):
            for index in places.pop(uuid, ()):
                left.discard(index)
                waiting.append(index)
    return set(dropped) - left


def broken(values: Sequence[Any], dropped: AbstractSet[int], parents: Mapping[int, str | None]) -> list[str]:
    """Say what would break that was whole before: links to nothing, results without calls, calls without results."""
    gone = _uuids(values, dropped, kept=False).keys() - _uuids(values, dropped, kept=True).keys()
    problems = []
    for index, value in enumerate(values):
        if index in dropped or not isinstance(value, dict):
            continue
        parent = parents[index] if index in parents else text_of(value.get("parentUuid"))
        if parent in gone:
            problems.append(f"record {uuid_of(value) or index} would hang off {parent}, which goes")
    calls, results = _tools(values, dropped)
    problems += [f"the result of call {name} would have no call" for name in _cut_off(results, calls)]
    problems += [f"call {name} would have no result" for name in _cut_off(calls, results)]
    return problems


def reparented(snapshot: Snapshot, parents: Mapping[int, str | None]) -> list[Change]:
    """Return the changes that give values their new parents. ``ValueError`` names one that cannot be edited."""
    changes = []
    for index, parent in parents.items():
        found = snapshot.values[index]
        data = edited(snapshot.raw(found), partial(_set_parent, parent))
        if data is None:
            raise ValueError(f"the record at byte {found.offset} cannot be linked anew without losing bytes of it")
        changes.append(Change(found.offset, found.length, data, "chain"))
    return changes


def _set_parent(parent: str | None, value: dict[str, Any]) -> None:
    value["parentUuid"] = parent


def _uuids(values: Sequence[Any], dropped: AbstractSet[int], *, kept: bool) -> dict[str, int]:
    """Return the uuids of kept or of dropped values, with the index of the last that bears it."""
    found = {uuid_of(value): index for index, value in enumerate(values) if (index not in dropped) == kept}
    found.pop("", None)
    return found


def _above(value: Mapping[str, Any]) -> str:
    parent = text_of(value.get("parentUuid"))
    return parent or (text_of(value.get("logicalParentUuid")) if is_wall(value) else "")


def _references(value: object) -> Iterator[str]:
    """Yield the uuids that a value names besides its parent."""
    if not isinstance(value, dict):
        return
    for key in ("leafUuid", "sourceToolAssistantUUID"):
        yield text_of(value.get(key))
    if not is_wall(value):
        return
    yield text_of(value.get("logicalParentUuid"))
    wall = dict_of(value.get("compactMetadata"))
    for name, keys in _KEPT_BY_WALL:
        for key in keys:
            yield text_of(dict_of(wall.get(name)).get(key))
    for key in _LISTS_OF_WALL:
        listed = dict_of(wall.get("preservedMessages")).get(key)
        yield from map(text_of, listed if isinstance(listed, list) else ())


def _tools(values: Sequence[Any], dropped: AbstractSet[int]) -> tuple[dict[str, bool], dict[str, bool]]:
    """Return the ids of calls and of results: id → whether one of that id is kept."""
    calls: dict[str, bool] = {}
    results: dict[str, bool] = {}
    for index, value in enumerate(values):
        content = dict_of(value.get("message")).get("content") if isinstance(value, dict) else None
        for block in content if isinstance(content, list) else ():
            if not isinstance(block, dict):
                continue
            kind = block.get("type")
            found, key = (calls, "id") if kind == "tool_use" else (results, "tool_use_id")
            name = text_of(block.get(key)) if kind in ("tool_use", "tool_result") else ""
            if name:
                found[name] = found.get(name, False) or index not in dropped
    return calls, results


def _cut_off(ends: Mapping[str, bool], others: Mapping[str, bool]) -> list[str]:
    """Return the kept ends whose other end was there and goes."""
    return [name for name, kept in ends.items() if kept and others.get(name) is False]
