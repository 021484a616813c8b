"""A memory that came back from the archive, as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.cli.render.memory_lines import commit_note, notices

if TYPE_CHECKING:
    from fabula.app.memory.archive import UnarchiveResult
    from fabula.cli.output import Out


def render(result: UnarchiveResult, out: Out) -> None:
    """Write where it is again."""
    out.line(f"{out.bold(result.path)} is in use again{commit_note(result.commit, out)}")
    notices(result.notices, out)
