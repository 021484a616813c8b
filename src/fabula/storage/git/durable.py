"""Making many new files durable at the price of one: they are written first and synced together.

A file system that keeps a journal syncs files that are asked for at the same time in one transaction: on ext4 eight
syncs in a row took 25 ms, eight at once 2 ms.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Self

from fabula.storage.files import PRIVATE_FILE, disk_errors, sync_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

WORKERS = 16
OPEN_FILES = 128  # far below what a process may hold open


class NewFiles:
    """Files that are being written; none of them counts before :meth:`sync` has returned."""

    def __init__(self) -> None:
        self._open: list[int] = []

    def add(self, path: Path, data: bytes, mode: int = PRIVATE_FILE) -> None:
        """Write a file that is not there yet. Raises ``ERR_DISK``, ``ERR_READ_ONLY``, ``ERR_PATH``."""
        if len(self._open) >= OPEN_FILES:
            self.sync()
        with disk_errors(path):
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
            handle = os.open(path, flags, mode)
            self._open.append(handle)
            view = memoryview(data)
            while view:
                view = view[os.write(handle, view) :]

    def sync(self) -> None:
        """Make everything that was added durable."""
        handles, self._open = self._open, []
        try:
            with disk_errors("the disk"):
                at_once([lambda handle=handle: os.fsync(handle) for handle in handles])  # type: ignore[misc]
        finally:
            for handle in handles:
                os.close(handle)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for handle in self._open:
            os.close(handle)
        self._open = []


def sync_folders(folders: Iterable[Path]) -> None:
    """Make renames in several folders durable, all at once; those that are gone are left out."""
    at_once([lambda folder=folder: sync_folder(folder) for folder in dict.fromkeys(folders) if folder.is_dir()])  # type: ignore[misc]


def at_once(jobs: Sequence[Callable[[], object]]) -> None:
    """Do jobs that mostly wait for the disk, several at a time; raise the first failure once all have ended."""
    if len(jobs) < 2:
        for job in jobs:
            job()
        return
    from threading import Thread

    failed: list[BaseException] = []
    waiting = iter(jobs)  # a list's iterator may be shared: taking the next is one step

    def work() -> None:
        for job in waiting:
            try:
                job()
            except OSError as error:
                failed.append(error)

    threads = [Thread(target=work, daemon=True) for _ in range(min(WORKERS, len(jobs)))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failed:
        raise failed[0]
