"""A memory that went to the archive, as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.cli.render.memory_lines import commit_note, notices

if TYPE_CHECKING:
    from fabula.app.memory.archive import ArchiveResult
    from fabula.cli.output import Out


def render(result: ArchiveResult, out: Out) -> None:
    """Write where it is now and how it comes back."""
    out.line(f"{result.path} is in the archive: {out.bold(result.archived)}{commit_note(result.commit, out)}")
    out.line(out.dim(f"  back again: fabula memory unarchive {result.archived}"))
    notices(result.notices, out)
