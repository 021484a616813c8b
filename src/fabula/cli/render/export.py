"""An export: the text itself, or where it was written."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fabula.app.record.export import ExportResult
    from fabula.cli.output import Out


def render(result: ExportResult, out: Out) -> None:
    """Write the exported text, or say which file holds it."""
    if result.output:
        out.line(f"{result.output}: {result.threads} threads, {result.turns} turns, {result.characters} characters")
    else:
        out.write(result.text)
