"""A new task as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.cli.render.memory_lines import commit_note, notices

if TYPE_CHECKING:
    from fabula.app.memory.task_add import TaskAddResult
    from fabula.cli.output import Out


def render(result: TaskAddResult, out: Out) -> None:
    """Write where the task is."""
    due = f", due {result.due}" if result.due else ""
    out.line(f"{result.status}: {out.bold(result.title)}{due}{commit_note(result.commit, out)}")
    out.line(out.dim(f"  {result.path}"))
    notices(result.notices, out)
