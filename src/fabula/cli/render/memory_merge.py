"""What a merge of memories did, as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fabula.app.memory.merge import MergeResult
    from fabula.cli.output import Out

_SAID = {"already": "nothing new in", "forward": "went on to", "merge": "merged"}


def render(result: MergeResult, out: Out) -> None:
    """Write what was taken in, path by path, and what a person may want to look at."""
    out.line(f"{out.bold(_SAID[result.kind])} {result.theirs[:12]}")
    moved = dict(result.moved)
    for path in result.changed:
        if path not in moved.values():
            out.line(f"  {path}")
    for old, new in result.moved:
        out.line(f"  {old} → {new}")
    for path in result.removed:
        if path not in moved:
            out.line(f"  {path} {out.dim('(gone)')}")
    for path in result.left:
        out.line(f"  {path} {out.dim('changed meanwhile: left as it is')}")
    for notice in result.notices:
        out.line(out.dim(notice))
