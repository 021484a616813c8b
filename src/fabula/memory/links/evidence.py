"""What lowers the standing of a memory: counted from authored edges alone. Pure.

No function here takes a derived edge: a machine's suspicion cannot contest, retire or evict anything. A type checker
proves it; what gets past it is refused when it runs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.kernel.values import frozen
from fabula.memory.links.edges import AuthoredEdge, class_of, defect_of
from fabula.memory.links.graph import bridges, communities, pagerank

if TYPE_CHECKING:
    from collections.abc import Iterable


def require_authored(edges: Iterable[AuthoredEdge]) -> list[AuthoredEdge]:
    """Return the edges, well-formed ones once each. Raises ``TypeError`` when one of them was not written by anyone."""
    found: dict[tuple[str, str, str], AuthoredEdge] = {}
    for edge in edges:
        if not isinstance(edge, AuthoredEdge):
            raise TypeError(f"{edge!r} was not written by anyone")
        if defect_of(edge) is None:
            found.setdefault((edge.source, edge.relation, edge.target), edge)
    return [found[names] for names in sorted(found)]


def contradictions(edges: Iterable[AuthoredEdge]) -> dict[str, int]:
    """Return by how many memories each is contradicted: written in both files it counts once."""
    pairs = {
        frozenset((edge.source, edge.target)) for edge in require_authored(edges) if edge.relation == "contradicts"
    }
    return _counted(path for pair in pairs for path in pair)


def supports(edges: Iterable[AuthoredEdge]) -> dict[str, int]:
    """Return by how many memories each is supported."""
    return _counted(edge.target for edge in require_authored(edges) if edge.relation == "supports")


@frozen
class GraphStanding:
    """What the graph of a corpus says: ranks and bridges to other communities by path, the number of edges."""

    ranks: dict[str, float]
    bridges: dict[str, int]
    edges: int


def graph_standing(nodes: Iterable[str], edges: Iterable[AuthoredEdge]) -> GraphStanding:
    """Measure a corpus by its authored edges between memories; tasks, people and sessions have no part in it."""
    paths = frozenset(nodes)
    between = [edge for edge in require_authored(edges) if edge.source in paths and edge.target in paths]
    links = [edge for edge in between if class_of(edge.relation) == "memory"]
    return GraphStanding(pagerank(paths, links), bridges(communities(paths, links), links), len(links))


def _counted(paths: Iterable[str]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for path in paths:
        counts[path] = counts.get(path, 0) + 1
    return dict(sorted(counts.items()))
