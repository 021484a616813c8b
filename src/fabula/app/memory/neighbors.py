"""The verb ``memory neighbors``: what is near a memory by its relations, written and guessed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.app.memory.changing import path_of, require_known
from fabula.kernel.values import frozen

if TYPE_CHECKING:
    from pathlib import Path

    from fabula.app.wiring import App


@frozen
class NeighborsRequest:
    """The memory in the middle, how many steps, and over which relations (none: all)."""

    path: str
    depth: int = 1
    rel: tuple[str, ...] = ()
    limit: int = 200
    corpus: Path | None = None


@frozen
class Near:
    """A memory at ``hops`` steps, reached over an edge of this relation."""

    path: str
    title: str
    hops: int
    relation: str
    archived: bool


@frozen
class NearEdge:
    """An edge among what was reached. ``derived``: a guess of sleep, not a statement in a file."""

    source: str
    relation: str
    target: str
    derived: bool


@frozen
class NeighborsResult:
    """The nearest first; ``dropped`` more were reached than ``limit`` lets through."""

    center: str
    depth: int
    nodes: tuple[Near, ...]
    edges: tuple[NearEdge, ...]
    dropped: int
    notices: tuple[str, ...]


def neighbors(app: App, request: NeighborsRequest) -> NeighborsResult:
    """Walk from a memory. Raises ``ERR_NO_MEMORY``, ``ERR_PATH``, ``ERR_AMBIGUOUS``."""
    from fabula.memory.links.edges import DerivedEdge

    access = app.memory_at(request.corpus)
    (center,) = require_known(access, [path_of(access, request.path)])
    index = access.index()
    found = index.neighbourhood(center, request.depth, request.rel or None)
    kept = found.reached[: request.limit]
    rows = index.files(one.path for one in kept)
    nodes = [
        Near(one.path, rows[one.path].title, one.hops, one.relation, rows[one.path].archived)
        for one in kept
        if one.path in rows
    ]
    shown = {center, *(node.path for node in nodes)}
    edges = [
        NearEdge(edge.source, edge.relation, edge.target, isinstance(edge, DerivedEdge))
        for edge in found.edges
        if edge.source in shown and edge.target in shown
    ]
    return NeighborsResult(
        center, request.depth, tuple(nodes), tuple(edges), len(found.reached) - len(nodes), access.notices
    )
