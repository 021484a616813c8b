"""Where a path leads, as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.cli.render.memory_lines import notices

if TYPE_CHECKING:
    from fabula.app.memory.resolve import ResolveResult
    from fabula.cli.output import Out

_VIA = {"supersedes": "superseded by", "archive_move": "archived as", "move": "moved to"}
_WHY = {
    "live": "it holds",
    "archived": "it is in the archive, and nothing took its place",
    "unindexed": "nothing is there, and nothing is known of it",
    "cycle": "memories supersede each other in a circle",
    "hop_limit": "the way is too long",
}


def render(result: ResolveResult, out: Out) -> None:
    """Write the way and its end."""
    out.line(result.requested)
    for step in result.steps:
        out.line(f"└─ {_VIA[step.via]} {step.to_path}")
    title = f"  {out.bold(result.title)}" if result.title else ""
    out.line(f"{_WHY[result.stop_reason]}:{title}  {out.dim(result.path)}")
    if result.pinned_uri:
        out.line(out.dim(result.pinned_uri))
    notices(result.notices, out)
