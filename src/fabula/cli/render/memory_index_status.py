"""What the index holds, as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.cli.progress import megabytes
from fabula.cli.render.memory_index import problems
from fabula.cli.render.memory_lines import SHORT, notices
from fabula.cli.render.record_lines import counted

if TYPE_CHECKING:
    from fabula.app.memory.index import IndexStatusResult
    from fabula.cli.output import Out


def render(result: IndexStatusResult, out: Out) -> None:
    """Write counts, whether they are of now, and what is not served."""
    status = result.status
    state = "as of HEAD" if result.fresh else "older than HEAD: fabula memory index update"
    out.line(f"{counted(status.files, 'memory')} ({status.archived:,} archived), {state} ({result.head_now[:SHORT]})")
    out.line(f"  {counted(status.edges, 'relation')}, {status.guesses:,} guesses, {status.dirty:,} files not committed")
    for space, number in sorted(status.vectors.items()):
        out.line(f"  {number:,} vectors of {space}")
    out.line(out.dim(f"  {status.path or 'in memory'}, {megabytes(status.bytes)}"))
    problems(result.problems, out)
    notices(result.notices, out)
