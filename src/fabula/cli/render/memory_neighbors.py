"""What is near a memory, as a tree."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.cli.render.memory_lines import notices

if TYPE_CHECKING:
    from fabula.app.memory.neighbors import NearEdge, NeighborsResult
    from fabula.cli.output import Out


def render(result: NeighborsResult, out: Out) -> None:
    """Write the memory in the middle, and below it what is reached, step by step."""
    out.line(out.bold(result.center))
    titles = {node.path: node.title + (" (archived)" if node.archived else "") for node in result.nodes}
    hops = {node.path: node.hops for node in result.nodes}
    shown: set[str] = set()
    _below(result.center, 1, "", result.edges, (titles, hops, shown), out)
    if not result.nodes:
        out.line(out.dim("  no relation leads to or from it"))
    if result.dropped:
        out.line(out.dim(f"  and {result.dropped} more: --limit"))
    notices(result.notices, out)


def _below(
    path: str,
    hop: int,
    indent: str,
    edges: tuple[NearEdge, ...],
    known: tuple[dict[str, str], dict[str, int], set[str]],
    out: Out,
) -> None:
    titles, hops, shown = known
    children: dict[str, list[NearEdge]] = {}
    for edge in edges:
        other = edge.target if edge.source == path else edge.source if edge.target == path else ""
        if hops.get(other) == hop and other not in shown:
            children.setdefault(other, []).append(edge)
    for number, (other, among) in enumerate(children.items(), 1):
        shown.add(other)
        is_last = number == len(children)
        names = ", ".join(_name(edge, path) for edge in among)
        out.line(f"{indent}{'└─' if is_last else '├─'} {names} {out.bold(titles[other])}  {out.dim(other)}")
        _below(other, hop + 1, indent + ("   " if is_last else "│  "), edges, known, out)


def _name(edge: NearEdge, path: str) -> str:
    relation = edge.relation.replace("_", " ") + (" (guessed)" if edge.derived else "")
    return f"{relation} →" if edge.source == path else f"← {relation}"
