"""A task in another state, as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.cli.render.memory_lines import commit_note, notices

if TYPE_CHECKING:
    from fabula.app.memory.task_status import TaskStatusResult
    from fabula.cli.output import Out


def render(result: TaskStatusResult, out: Out) -> None:
    """Write the task's state and where it is now."""
    before = " already" if result.unchanged else ""
    where = " (in the archive)" if result.archived else ""
    out.line(f"{out.bold(result.path)} is{before} {result.status}{where}{commit_note(result.commit, out)}")
    notices(result.notices, out)
