"""Tasks: memories of type ``task``, whose state stands in their head and changes without a word of the article."""

from __future__ import annotations

from fabula.kernel.errors import FabulaError
from fabula.memory.format.edit import read_meta, set_meta
from fabula.memory.format.vocabulary import PREFIX, TASK_STATUSES

TYPE, STATUS, UPDATED, DUE = (PREFIX + name for name in ("type", "task-status", "updated", "due"))
#: The state that ends a task: its file goes to the archive.
DONE = "done"


def with_status(data: bytes, status: str, at: str) -> bytes:
    """Return a task's file in another state since a time; the same bytes where it is in that state already.

    Raises:
        FabulaError: the file is no task, or there is no such state.
    """
    if status not in TASK_STATUSES:
        choices = ", ".join(TASK_STATUSES)
        raise FabulaError("ERR_MEMORY_FORMAT", f'"{status}" is no state of a task.', f"use one of {choices}")
    if read_meta(data, TYPE) != "task":
        raise FabulaError("ERR_MEMORY_FORMAT", "This memory is not a task.")
    if read_meta(data, STATUS) == status:
        return data
    return set_meta(set_meta(data, STATUS, status), UPDATED, at)


def is_due_before(due: str | None, day: str) -> bool:
    """Whether a task is due before a day (``2026-05-14``); days are compared, not times."""
    return due is not None and due[:10] < day[:10]
