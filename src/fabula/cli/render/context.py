"""A context pack as text: exactly what a model is given."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.cli.render.record_lines import notes

if TYPE_CHECKING:
    from fabula.app.record.context import ContextResult
    from fabula.cli.output import Out


def render(result: ContextResult, out: Out) -> None:
    """Write the pack, and what limits it."""
    out.line(result.text)
    notes(result.fresh, out)
