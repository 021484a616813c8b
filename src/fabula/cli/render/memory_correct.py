"""What became of a correction, as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.cli.render.memory_lines import commit_note, notices

if TYPE_CHECKING:
    from fabula.app.memory.correct import CorrectResult
    from fabula.cli.output import Out


def render(result: CorrectResult, out: Out) -> None:
    """Write what holds now and where the old memory is."""
    if result.unchanged:
        out.line(f"nothing to correct: {result.path} says just this")
    else:
        how = "said so before and takes its place" if result.deduped else "takes its place"
        out.line(f"{out.bold(result.path)} {how}{commit_note(result.commit, out)}")
        out.line(out.dim(f"  the old one: {result.archived}"))
        if result.valid_from:
            out.line(out.dim(f"  true since {result.valid_from}"))
    notices(result.notices, out)
