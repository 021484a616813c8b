"""An export of the state, as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.cli.render.memory_lines import commit_note, notices

if TYPE_CHECKING:
    from fabula.app.memory.state import StateExportResult
    from fabula.cli.output import Out


def render(result: StateExportResult, out: Out) -> None:
    """Write what was committed."""
    if result.commit is None:
        out.line("nothing new to export")
    else:
        out.line(f"{result.entries:,} entries of {result.replica} are in the corpus{commit_note(result.commit, out)}")
    for file in result.files:
        out.line(out.dim(f"  {file}"))
    notices(result.notices, out)
