"""The verb ``memory task add``: a task is a memory that has a state."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from fabula.app.memory.changing import provenance_of
from fabula.app.memory.naming import entity_names
from fabula.app.memory.typed import read_typed
from fabula.app.memory.write import put
from fabula.kernel.values import frozen

if TYPE_CHECKING:
    from pathlib import Path

    from fabula.app.wiring import App


@frozen
class TaskAddRequest:
    """What is to be done, and by when (``due``: a day, or a time with its day)."""

    title: str
    claim: str | None = None
    body: tuple[str, ...] = ()
    status: Literal["todo", "doing", "blocked", "done"] = "todo"
    due: str | None = None
    workspace: str | None = None
    tag: tuple[str, ...] = ()
    entity: tuple[str, ...] = ()
    importance: int | None = None
    blocks: tuple[str, ...] = ()
    subtask_of: str | None = None
    session: str = ""
    prompt: str = ""
    turn: str = ""
    allow_secret: bool = False
    corpus: Path | None = None


@frozen
class TaskAddResult:
    """The task that was written."""

    path: str
    title: str
    status: str
    due: str | None
    commit: str | None
    notices: tuple[str, ...]


def task_add(app: App, request: TaskAddRequest) -> TaskAddResult:
    """Write a task. Raises ``ERR_USAGE``, ``ERR_MEMORY_FORMAT``; ``ERR_NO_MEMORY`` for a task that is missing."""
    from fabula.memory.store.values import NewMemory

    access = app.memory_at(request.corpus)
    access.corpus()
    typed = read_typed(app, request.claim or request.title, request.body, None)
    links = [("blocks", path) for path in request.blocks]
    links += [("subtask_of", request.subtask_of)] if request.subtask_of is not None else []
    new = NewMemory(
        title=request.title,
        type="task",
        claim=typed.claim,
        body=typed.body,
        workspace=request.workspace,
        tags=request.tag,
        entities=entity_names(request.entity),
        importance=request.importance,
        task_status=request.status,
        due=request.due,
        links=tuple(links),
        provenance=provenance_of(request),
    )
    done = put(access, new, may_ask=request.allow_secret)
    return TaskAddResult(done.path, done.title, request.status, request.due, done.commit, done.notices)
