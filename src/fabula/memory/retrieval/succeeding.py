"""Who superseded what was found: authored edges alone, followed up to what holds now."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from fabula.memory.links.edges import AuthoredEdge
from fabula.memory.links.succession import RELATION, Succession

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import apsw

VERSIONS: Final = 200  # of one fact that are followed


def following(connection: apsw.Connection, paths: Iterable[str]) -> Succession:
    """Return the succession above some paths: their successors, and theirs."""
    edges: list[AuthoredEdge] = []
    seen: set[str] = set()
    waiting = sorted(paths)
    for _ in range(VERSIONS):
        seen.update(waiting)
        rows = connection.execute(
            "select f.path, e.target, f.updated from edges e join files f on f.id = e.source"
            " where e.target in (select value from json_each(?)) and e.relation = ?",
            (json.dumps(waiting), RELATION),
        )
        found = [AuthoredEdge(source, RELATION, target, at) for source, target, at in rows]
        edges += found
        waiting = sorted({edge.source for edge in found} - seen)
        if not waiting:
            break
    return Succession(edges)


def with_successors(
    connection: apsw.Connection, chosen: Sequence[str], allowed: frozenset[int]
) -> tuple[list[int], dict[int, str]]:
    """Return ids of a ranking in which what holds stands before what it superseded, and who superseded whom.

    A successor that was not found itself is put in, where the scope allows it.
    """
    succession = following(connection, chosen)
    order: dict[str, None] = {}
    for path in chosen:
        current = succession.current(path)
        if current is not None:
            order.setdefault(current)
        order.setdefault(path)
    rows = connection.execute(
        "select path, id from files where path in (select value from json_each(?))", (json.dumps(list(order)),)
    )
    known = {path: one for path, one in rows if one in allowed}
    placed = succession.in_order([path for path in order if path in known])
    over = {known[path]: better for path in placed if (better := succession.successor(path)) is not None}
    return [known[path] for path in placed], over
