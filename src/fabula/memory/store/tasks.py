"""The state of a task: a stamp in its head. What is done goes to the archive, what is taken up again comes back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.kernel.errors import FabulaError
from fabula.kernel.values import replace
from fabula.memory.format.tasks import DONE, with_status
from fabula.memory.format.vocabulary import TASK_STATUSES
from fabula.memory.store.archiving import NOBODY, move_back
from fabula.memory.store.messages import change_message, check_provenance
from fabula.memory.store.placing import Paths
from fabula.memory.store.stamps import archived_bytes
from fabula.memory.store.values import TaskMoved
from fabula.storage.git.values import Move, Put

if TYPE_CHECKING:
    from fabula.memory.store.base import Held
    from fabula.memory.store.store import Store, Work
    from fabula.memory.store.values import Provenance

WHY_DONE = "task done"


def set_status(store: Store, path: str, status: str, reason: str = "", provenance: Provenance = NOBODY) -> TaskMoved:
    """Bring a task into a state, in one commit with the move that goes with it. Any state may follow any other.

    Raises ``ERR_USAGE`` for what is no state or no task, ``ERR_NO_MEMORY``, :class:`Occupied` where the place that a
    task comes back to is taken, and what a commit raises.
    """
    check_provenance(provenance)
    if status not in TASK_STATUSES:
        choices = ", ".join(TASK_STATUSES)
        raise FabulaError("ERR_USAGE", f"{status!r} is no state of a task", f"use one of {choices}")
    store.refuse_secrets([reason])
    with store.writing() as work:
        held = work.base.memory(path)
        if held.reading.head.type != "task":
            raise FabulaError("ERR_USAGE", f"{held.path} is not a task", "fabula memory task list")
        change = change_to(work, held, status, reason)
        if change is None:
            return _moved(work, held.path, status, None, unchanged=True)
        message = change_message("task", f"{status}: {held.reading.title}", provenance, reason)
        committed = work.commit(message, [change])
        there = change.target if isinstance(change, Move) else held.path
        moved = _moved(work, there, status, committed.id if committed is not None else None)
        return replace(moved, moves=((held.path, there),)) if there != held.path else moved


def change_to(work: Work, held: Held, status: str, reason: str) -> Move | Put | None:
    """Return what brings a task into a state, ``None`` where it is in it. The path says whether it is archived."""
    is_archived = held.path.startswith("archive/")
    data = with_status(held.data, status, work.moment.text)
    if status == DONE and not is_archived:
        there = Paths(work.base).in_archive(held.path, work.moment)
        return Move(held.path, there, archived_bytes(data, held.path, work.moment.text, reason or WHY_DONE), held.blob)
    if status != DONE and is_archived:
        back = move_back(work, held)
        assert back.data is not None
        return replace(back, data=with_status(back.data, status, work.moment.text))
    return Put(held.path, data, held.blob) if data != held.data else None


def _moved(work: Work, path: str, status: str, commit: str | None, *, unchanged: bool = False) -> TaskMoved:
    is_archived = path.startswith("archive/")
    return TaskMoved(
        path,
        status,
        is_archived,
        path if is_archived else None,
        commit,
        work.base.commit,
        unchanged,
        notices=tuple(work.notices),
    )
