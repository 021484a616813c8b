"""Locks between processes: an OS lock on a file that is never deleted; a crash releases it. Standard library only."""

from __future__ import annotations

import os
import sys
import time
from typing import TYPE_CHECKING, Self

from fabula.kernel.errors import FabulaError
from fabula.storage.files import PRIVATE_FILE, disk_errors

if TYPE_CHECKING:
    from pathlib import Path
    from types import TracebackType

POLL_SECONDS = 0.02

if sys.platform == "win32":
    import msvcrt

    def _try_lock(handle: int) -> bool:
        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True
else:
    import fcntl

    def _try_lock(handle: int) -> bool:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


class FileLock:
    """An exclusive lock held by at most one process (and one holder within it).

    ``with FileLock(path, wait_seconds=5): ...`` raises ``ERR_LOCKED`` when the time runs out.
    """

    def __init__(self, path: Path, wait_seconds: float = 0.0) -> None:
        self._path = path
        self._wait = wait_seconds
        self._handle: int | None = None

    def acquire(self) -> bool:
        """Try to take the lock within the time; say whether it is held now."""
        with disk_errors(self._path):
            handle = os.open(self._path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), PRIVATE_FILE)
        deadline = time.monotonic() + self._wait
        while not _try_lock(handle):
            if time.monotonic() >= deadline:
                os.close(handle)
                return False
            time.sleep(POLL_SECONDS)
        self._handle = handle
        return True

    def release(self) -> None:
        """Give the lock back; a no-op when it is not held."""
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None

    def __enter__(self) -> Self:
        if not self.acquire():
            raise FabulaError(
                "ERR_LOCKED",
                f"{self._path}: another Fabula process is writing",
                "wait for it to finish, then repeat the command",
            )
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()
