"""The verb ``memory task status``: a task in another state. What is done goes to the archive."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.app.memory.changing import located, path_of, provenance_of
from fabula.kernel.values import frozen

if TYPE_CHECKING:
    from pathlib import Path

    from fabula.app.wiring import App


@frozen
class TaskStatusRequest:
    """Which task, its new state, and why."""

    path: str
    status: str
    reason: str = ""
    session: str = ""
    prompt: str = ""
    turn: str = ""
    corpus: Path | None = None


@frozen
class TaskStatusResult:
    """The task as it is now; ``path`` is where it lies now."""

    path: str
    status: str
    archived: bool
    commit: str | None
    unchanged: bool
    notices: tuple[str, ...]


def task_status(app: App, request: TaskStatusRequest) -> TaskStatusResult:
    """Set a task's state. Raises ``ERR_NO_MEMORY``, ``ERR_USAGE`` for what is no task."""
    from fabula.memory.store.tasks import set_status

    access = app.memory_at(request.corpus)
    path = path_of(access, request.path)
    with located(access, path):
        done = set_status(access.store(), path, request.status, request.reason, provenance_of(request))
    if done.commit is not None:
        access.state().done(f"task-{done.status}", [done.path], request.session, done.moves)
    return TaskStatusResult(
        done.path, done.status, done.archived, done.commit, done.unchanged, (*done.notices, *access.notices)
    )
