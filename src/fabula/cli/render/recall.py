"""A recalled pack as text: exactly what a model is given."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.cli.render.record_lines import notes

if TYPE_CHECKING:
    from fabula.app.joints.recalling import RecallResult
    from fabula.cli.output import Out


def render(result: RecallResult, out: Out) -> None:
    """Write the pack, and what limits it."""
    out.line(result.text)
    for notice in result.notices:
        out.line(out.dim(notice))
    if result.fresh is not None:
        notes(result.fresh, out)
