"""Reading one memory as it lies in the work tree: no link is followed, nothing outside of the corpus is read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.kernel.values import frozen
from fabula.memory.format.reader import Reading, read
from fabula.memory.store.base import memory_path, no_memory, require_memory
from fabula.storage.git.worktree import read_file

if TYPE_CHECKING:
    from pathlib import Path


@frozen
class Memory:
    """A memory that was read: its path, the bytes of its file, and what they say."""

    path: str
    data: bytes
    reading: Reading


def read_memory(root: Path, path: str) -> Memory:
    """Return the memory at a path; slashes in front of it do not matter.

    Raises ``ERR_PATH`` for what is no path of a memory or leads through a link, ``ERR_NO_MEMORY`` where nothing is,
    ``ERR_MEMORY_FORMAT`` for a file that is no memory.
    """
    path = memory_path(path)
    data = read_file(root, path)
    if data is None:
        raise no_memory(path)
    reading = read(data)
    require_memory(path, reading)
    return Memory(path, data, reading)
