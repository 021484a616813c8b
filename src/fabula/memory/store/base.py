"""The corpus as it is at HEAD, read while nobody else can move it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.kernel.errors import FabulaError
from fabula.kernel.values import frozen
from fabula.memory.format.findings import joined
from fabula.memory.format.paths import is_memory_path, normalise
from fabula.memory.format.reader import Reading, read
from fabula.storage.git.values import ABSENT, FOLDER_MODE, LINK_MODE, MODULE_MODE, Entry
from fabula.storage.git.worktree import read_file

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fabula.storage.git.repo import Repo


@frozen
class Held:
    """A file at HEAD that was read: its path, its blob id, and what it says."""

    path: str
    blob: str
    reading: Reading

    @property
    def data(self) -> bytes:
        """The bytes of the file."""
        return self.reading.source.data


class Base:
    """Files and folders of one commit; ``commit`` is empty where nothing was committed yet."""

    def __init__(self, repo: Repo, head: tuple[str, str]) -> None:
        self.commit, self._tree = head
        self._root = repo.shop.place.root
        self._reader = repo.shop.reader
        self._trees = repo.shop.trees()

    def entry(self, path: str) -> Entry | None:
        """Return the file at a path, ``None`` where there is none; a folder is none."""
        found = self._trees.find(self._tree, path) if self._tree != ABSENT else None
        return None if found is None or found.mode == FOLDER_MODE else found

    def is_free(self, path: str) -> bool:
        """Whether nothing is at a path, neither committed nor in the work tree."""
        if self._tree != ABSENT and self._trees.find(self._tree, path) is not None:
            return False
        try:
            return read_file(self._root, path) is None
        except FabulaError:  # a link, a folder: something is there
            return False

    def names_in(self, folder: str) -> Mapping[str, Entry]:
        """Return the names in a folder; none where there is no such folder."""
        found = self._trees.find(self._tree, folder) if self._tree != ABSENT else None
        return self._trees.entries(found.id) if found is not None and found.mode == FOLDER_MODE else {}

    def data(self, path: str) -> bytes:
        """Return the bytes of a file that was committed. Raises ``ERR_NO_MEMORY`` where none was."""
        entry = self.entry(path)
        if entry is None:
            raise no_memory(path)
        return self._reader.data(entry.id, "blob")

    def file(self, path: str) -> Held | None:
        """Return a file as it was committed, ``None`` where none was."""
        entry = self.entry(path)
        if entry is None or entry.mode in {LINK_MODE, MODULE_MODE}:
            return None
        return Held(path, entry.id, read(self._reader.data(entry.id, "blob")))

    def memory(self, path: str) -> Held:
        """Return the memory at a path.

        Raises ``ERR_PATH`` for what is no path of a memory, ``ERR_NO_MEMORY`` where none is, ``ERR_DIRTY`` where a
        person has not committed it yet, ``ERR_MEMORY_FORMAT`` for a file that is no memory.
        """
        path = memory_path(path)
        held = self.file(path)
        if held is None:
            raise self.missing(path)
        require_memory(path, held.reading)
        return held

    def missing(self, path: str) -> FabulaError:
        """Return the error for a path where no memory was committed; a file may be in the work tree all the same."""
        if not self._in_work_tree(path):
            return no_memory(path)
        return FabulaError("ERR_DIRTY", f"{path} is in the work tree, but not committed yet", "fabula memory commit")

    def _in_work_tree(self, path: str) -> bool:
        if not is_memory_path(path):
            return False
        try:
            return read_file(self._root, path) is not None
        except FabulaError:  # a link, a folder: no file that could be committed as a memory
            return False


def memory_path(path: str) -> str:
    """Return a path without slashes in front. Raises ``ERR_PATH`` for what cannot be a memory's."""
    plain = normalise(path)
    if not is_memory_path(plain):
        raise FabulaError(
            "ERR_PATH",
            f"{path!r} is no path of a memory: below projects/, areas/, resources/ or archive/, with .html at its end",
            "fabula memory list",
        )
    return plain


def no_memory(path: str) -> FabulaError:
    """Return the error for a path that has no memory."""
    return FabulaError("ERR_NO_MEMORY", f"no memory is at {path}", "fabula memory list")


def require_memory(path: str, reading: Reading) -> None:
    """Raise ``ERR_MEMORY_FORMAT`` for a file that keeps not to the format, with all that is wrong."""
    if reading.violations:
        first = reading.violations[0].place
        message = f"{path}:{first.line}: this file is no memory: {joined(reading.violations)}"
        raise FabulaError("ERR_MEMORY_FORMAT", message, *dict.fromkeys(found.fix for found in reading.violations))
