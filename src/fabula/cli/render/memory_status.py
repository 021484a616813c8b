"""The memory at a glance."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.cli.render.memory_lines import SHORT, notices
from fabula.cli.render.record_lines import counted

if TYPE_CHECKING:
    from fabula.app.memory.status import StatusResult
    from fabula.cli.output import Out


def render(result: StatusResult, out: Out) -> None:
    """Write where it is, what it holds, and what wants attention."""
    index = result.index
    out.line(f"{out.bold(result.root)}  {out.dim(f'commit {result.head[:SHORT]}' if result.head else 'no commit yet')}")
    out.line(
        f"  {counted(index.files - index.archived, 'memory')}, {index.archived:,} in the archive, "
        f"{counted(index.edges, 'relation')}"
    )
    for name, counts in (("types", index.by_type), ("workspaces", index.by_workspace), ("tasks", index.by_task_status)):
        if counts:
            out.line(f"  {name:10}  {', '.join(f'{key} {number:,}' for key, number in sorted(counts.items()))}")
    use = result.state
    out.line(
        f"  {'use':10}  {counted(use.memories, 'memory')}, {use.links:,} links to sessions, "
        f"{use.unexported:,} not exported"
    )
    meaning = f"no vectors: {result.degraded}" if result.degraded else f"{result.vectors:,} vectors"
    out.line(f"  {'meaning':10}  {meaning}")
    for number, what in (
        (result.uncommitted, "changed by hand, not committed: fabula memory commit"),
        (index.problems, "files are not served: fabula memory index status"),
        (result.duplicates, "facts stand in several files: fabula doctor"),
        (result.dangling, "relations lead nowhere: fabula doctor"),
    ):
        if number:
            out.line(f"  {out.mark(f'{number:,}')} {what}")
    notices(result.notices, out)
