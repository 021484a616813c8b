"""A restored file: its bytes alone, or a word on where they were written."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fabula.app.record.restore import RestoreResult
    from fabula.cli.output import Out


def render(result: RestoreResult, out: Out) -> None:
    """Write the exact bytes; after writing to a file, one line about it."""
    if result.output is None:
        for piece in result.pieces():
            out.raw(piece)
        return
    others = len(result.generations) - 1
    out.line(f"{result.output}: generation {result.generation} of {result.path}, {result.size:,} bytes")
    if result.holes:
        gone = sum(hole.length for hole in result.holes)
        out.line(out.dim(f"{gone:,} of these bytes were forgotten on purpose and are left out"))
    if others:
        numbers = ", ".join(str(g.number) for g in result.generations if g.number != result.generation)
        out.line(out.dim(f"other generations: {numbers}"))
