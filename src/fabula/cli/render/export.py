"""An export: the text itself, or where it was written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.cli.render.record_lines import counted

if TYPE_CHECKING:
    from fabula.app.record.export import ExportResult
    from fabula.cli.output import Out


def render(result: ExportResult, out: Out) -> None:
    """Write the exported text, or say which file holds it."""
    if result.output:
        sizes = (result.threads, "thread"), (result.turns, "turn"), (result.characters, "character")
        out.line(f"{result.output}: {', '.join(counted(*size) for size in sizes)}")
    else:
        out.write(result.text)
