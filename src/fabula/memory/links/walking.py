"""What is near a memory by following its edges, written and guessed alike: a reader's aid, it judges nobody. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.kernel.values import frozen
from fabula.memory.links.edges import class_of, defect_of
from fabula.memory.standing.constants import NEIGHBOUR_DEPTH

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fabula.memory.links.edges import Edge


@frozen
class Reached:
    """A memory at ``hops`` edges from where the walk began, reached first over an edge of this relation."""

    path: str
    hops: int
    relation: str


@frozen
class Neighbourhood:
    """What was reached, the nearest first, then by path; and the edges among all of it, the beginning included."""

    reached: list[Reached]
    edges: list[Edge]


def neighbourhood(
    start: str, edges: Iterable[Edge], depth: int = NEIGHBOUR_DEPTH, relations: frozenset[str] | None = None
) -> Neighbourhood:
    """Walk up to ``depth`` edges (1 or 2) in either direction, siblings by a common parent included.

    Only edges between memories count; ``relations`` narrows them further (an empty set finds nothing). Of several
    edges to one memory the smallest relation names it.
    """
    kept = [
        edge
        for edge in edges
        if defect_of(edge) is None
        and class_of(edge.relation) == "memory"
        and (relations is None or edge.relation in relations)
    ]
    steps: dict[str, list[tuple[str, str]]] = {}
    for edge in kept:
        steps.setdefault(edge.source, []).append((edge.relation, edge.target))
        steps.setdefault(edge.target, []).append((edge.relation, edge.source))
    found = {start: Reached(start, 0, "")}
    border = [start]
    for hops in range(1, max(1, min(depth, NEIGHBOUR_DEPTH)) + 1):
        nearest: dict[str, str] = {}
        for path in border:
            for relation, other in steps.get(path, ()):
                if other not in found:
                    nearest[other] = min(relation, nearest.get(other, relation))
        found |= {path: Reached(path, hops, relation) for path, relation in nearest.items()}
        border = sorted(nearest)
    among = [edge for edge in kept if edge.source in found and edge.target in found]
    del found[start]
    reached = sorted(found.values(), key=lambda one: (one.hops, one.path))
    return Neighbourhood(reached, sorted(among, key=lambda edge: (edge.source, edge.relation, edge.target)))
