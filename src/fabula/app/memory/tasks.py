"""The verbs ``memory tasks`` and ``memory task list``: tasks, what holds them up, and when they are due."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from fabula.kernel.values import frozen

if TYPE_CHECKING:
    from pathlib import Path

    from fabula.app.wiring import App
    from fabula.memory.index.values import Task

#: Tasks that sleep found by itself are named so.
_DETECTED = re.compile(r"(?:^|/)det-[0-9a-f]{12}-[^/]*$")
OPEN = ("todo", "doing", "blocked")


@frozen
class TasksRequest:
    """Which tasks; without ``status`` those that are not done. ``due_before`` (ms): due on a day before that day."""

    status: tuple[str, ...] = ()
    workspace: str | None = None
    due_before: int | None = None
    detected: bool = False
    include_archived: bool = False
    limit: int = 50
    cursor: str | None = None
    corpus: Path | None = None


@frozen
class TaskLine:
    """A task. ``due`` as ms, null without; ``blocked_by`` and ``blocks`` are paths of other tasks."""

    path: str
    title: str
    status: str
    due: int | None
    overdue: bool
    workspace: str | None
    archived: bool
    updated: int
    blocked_by: tuple[str, ...]
    blocks: tuple[str, ...]
    parent: str | None
    children: tuple[str, ...]


@frozen
class TasksResult:
    """A page of tasks by path, how many there are, and where the next page begins."""

    tasks: tuple[TaskLine, ...]
    total: int
    next_cursor: str | None
    notices: tuple[str, ...]


def tasks(app: App, request: TasksRequest) -> TasksResult:
    """List tasks. Raises ``ERR_NO_CORPUS``, ``ERR_DATABASE``."""
    access = app.memory_at(request.corpus)
    index = access.refreshed()
    archived = request.include_archived or "done" in request.status
    status = request.status or (() if archived else OPEN)
    found = [one for one in index.tasks(request.workspace, status, archived=archived) if _is_wanted(one, request)]
    rest = [one for one in found if request.cursor is None or one.row.path > request.cursor]
    page = rest[: request.limit]
    cursor = page[-1].row.path if len(rest) > len(page) else None
    now = access.clock.now_ms()
    return TasksResult(tuple(_line(one, now) for one in page), len(found), cursor, access.notices)


def _is_wanted(task: Task, request: TasksRequest) -> bool:
    if request.detected and not _DETECTED.search(task.row.path):
        return False
    if request.due_before is None:
        return True
    return task.row.due is not None and _day(task.row.due) < _day(request.due_before)


def _line(task: Task, now: int) -> TaskLine:
    row = task.row
    overdue = row.due is not None and row.task_status != "done" and _day(row.due) < _day(now)
    return TaskLine(
        row.path, row.title, row.task_status or "todo", row.due, overdue, row.workspace, row.archived, row.updated,
        task.blocked_by, task.blocks, task.parent, task.children,
    )  # fmt: skip


def _day(millis: int) -> int:
    """Return the number of a day, UTC."""
    return millis // 86_400_000
