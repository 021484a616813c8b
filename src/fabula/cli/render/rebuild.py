"""The result of a rebuild as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fabula.app.record.rebuild import RebuildResult
    from fabula.cli.output import Out


def render(result: RebuildResult, out: Out) -> None:
    """Write what the new map holds."""
    out.line(
        f"the map is new: {result.records:,} records in {result.threads:,} threads of {result.sessions:,} sessions, "
        f"from {result.files:,} files"
    )
