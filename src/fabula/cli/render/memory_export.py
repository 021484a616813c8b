"""What an export of the memory wrote, as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fabula.app.memory.export import ExportResult
    from fabula.cli.output import Out


def render(result: ExportResult, out: Out) -> None:
    """Write a line, and what was left out."""
    what = "1 memory" if result.memories == 1 else f"{result.memories:,} memories"
    out.line(f"{out.bold(what)} as {result.format} in {result.folder} ({result.bytes / 1e6:,.1f} MB)")
    for path in result.left_out:
        out.line(out.dim(f"left out, no memory now: {path}"))
    for notice in result.notices:
        out.line(out.dim(notice))
