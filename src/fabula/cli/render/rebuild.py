"""The result of a rebuild as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.cli.render.record_lines import counted

if TYPE_CHECKING:
    from fabula.app.record.rebuild import RebuildResult
    from fabula.cli.output import Out


def render(result: RebuildResult, out: Out) -> None:
    """Write what the new map holds."""
    out.line(
        f"the map is new: {counted(result.records, 'record')} in {counted(result.threads, 'thread')} of "
        f"{counted(result.sessions, 'session')}, from {counted(result.files, 'file')}"
    )
