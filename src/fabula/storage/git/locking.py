"""Who may write: one Fabula at a time by a lock of ours, and nobody's git meanwhile by the index's own lock.

Git's lock is a file whose being there is the lock; nothing tells whose it is. Ours holds a mark, and comes to be whole
by a second link to a file that holds the mark already: who has our lock and finds git's with the mark knows that its
maker is gone.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress
from shlex import quote
from typing import TYPE_CHECKING

from fabula.kernel.errors import FabulaError
from fabula.storage.files import disk_errors, ensure_folder
from fabula.storage.locks import FileLock

if TYPE_CHECKING:
    from fabula.storage.git.values import Place

MARK = b"fabula is writing: this lock goes away when Fabula next opens the repository\n"
POLL_SECONDS = 0.01


class Locks:
    """The two locks of a work tree. ``folder`` is ours in its git folder."""

    def __init__(self, place: Place) -> None:
        self.folder = place.own / "fabula"
        self._index_lock = place.own / "index.lock"
        self._place = place
        self._ours: FileLock | None = None

    def take_ours(self, wait_seconds: float) -> None:
        """Take the lock among Fabula's processes. Raises ``ERR_LOCKED``, ``ERR_READ_ONLY``."""
        ensure_folder(self.folder)
        lock = FileLock(self.folder / "lock", wait_seconds)
        lock.__enter__()
        self._ours = lock

    def take_index(self, wait_seconds: float) -> None:
        """Take git's lock on the index; our lock must be held. Raises ``ERR_LOCKED`` when the time runs out."""
        deadline = time.monotonic() + wait_seconds
        while not self._link():
            if time.monotonic() >= deadline:
                raise self._busy()
            time.sleep(POLL_SECONDS)

    def is_left_over(self) -> bool:
        """Say whether git's lock is one of ours; with our lock held its maker is gone."""
        try:
            with self._index_lock.open("rb") as stream:
                return stream.read(len(MARK)) == MARK
        except OSError:
            return False

    def free_index(self) -> None:
        """Remove git's lock if it is ours."""
        if self.is_left_over():
            with disk_errors(self._index_lock):
                self._index_lock.unlink(missing_ok=True)

    def free_ours(self) -> None:
        """Give our lock back."""
        if self._ours is not None:
            self._ours.release()
            self._ours = None

    def _link(self) -> bool:
        marked = self.folder / "mark"
        with disk_errors(self._index_lock):
            if not marked.exists() or marked.read_bytes() != MARK:
                marked.unlink(missing_ok=True)
                marked.write_bytes(MARK)
            try:
                os.link(marked, self._index_lock)
            except FileExistsError:
                return False
            except OSError:
                return self._create()
        return True

    def _create(self) -> bool:
        """Take the lock where files have no second links."""
        with suppress(FileExistsError):
            handle = os.open(self._index_lock, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(handle, "wb") as stream:
                stream.write(MARK)
            return True
        return False

    def _busy(self) -> FabulaError:
        return FabulaError(
            "ERR_LOCKED",
            f"{self._index_lock}: git is at work in this repository, or was stopped while it was",
            "wait for it to finish, then repeat the command",
            f"if no git runs here any more: rm {quote(str(self._index_lock))}",
        )
