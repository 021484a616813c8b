"""Tasks as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.cli.render.memory_lines import day, notices

if TYPE_CHECKING:
    from fabula.app.memory.tasks import TaskLine, TasksResult
    from fabula.cli.output import Out


def render(result: TasksResult, out: Out) -> None:
    """Write one page of tasks and what holds each up."""
    for task in result.tasks:
        _task(task, out)
    if not result.tasks:
        out.line("no tasks" if not result.total else "no more tasks")
    elif result.next_cursor is not None:
        out.line(out.dim(f"{len(result.tasks)} of {result.total}; more: --cursor {result.next_cursor}"))
    notices(result.notices, out)


def _task(task: TaskLine, out: Out) -> None:
    due = f"  due {day(task.due)}" if task.due is not None else ""
    late = out.mark(due) if task.overdue else due
    out.line(f"{task.status:8}{out.bold(task.title)}{late}{' (late)' if task.overdue else ''}")
    out.line(out.dim(f"{'':8}{task.path}{' · archived' if task.archived else ''}"))
    for name, paths in (("waits for", task.blocked_by), ("holds up", task.blocks), ("parts", task.children)):
        if paths:
            out.line(out.dim(f"{'':8}{name}: {', '.join(paths)}"))
    if task.parent is not None:
        out.line(out.dim(f"{'':8}part of: {task.parent}"))
