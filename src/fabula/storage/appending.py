"""A folder of logs that many processes append to: lines stay whole, and a full file is set aside for good.

Everybody appends to ``current.jsonl`` with ``O_APPEND``, which a system writes as one piece. Who appends holds the
file's lock together with all others who do (a shared lock); who sets it aside holds it alone, for the moment of a
rename. A file that was set aside (``000001.jsonl``, …) is never written again. A line that a crash cut short is closed
by the next one that is appended. Standard library only.
"""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from fabula.storage.files import PRIVATE_FILE, disk_errors, ensure_folder

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

CURRENT = "current.jsonl"
FULL_BYTES = 256 * 1024
_TRIES = 100

if sys.platform == "win32":

    def _share(handle: int) -> None:
        """Do nothing: Windows renames no file that somebody has open."""

    def _own(_handle: int) -> bool:
        return True
else:
    import fcntl

    def _share(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_SH)

    def _own(handle: int) -> bool:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


def append_lines(folder: Path, lines: bytes) -> None:
    """Append whole lines; a missing folder is made. Raises ``ERR_READ_ONLY``, ``ERR_DISK``, ``ERR_PATH``."""
    ensure_folder(folder)
    path = folder / CURRENT
    with disk_errors(path), _opened(path) as handle:
        size = os.fstat(handle).st_size
        torn = size > 0 and _last_byte(path, size) != b"\n"
        data = b"\n" + lines if torn else lines
        view = memoryview(data)
        while view:
            view = view[os.write(handle, view) :]
    if size + len(data) >= FULL_BYTES:
        set_aside(folder)


def set_aside(folder: Path) -> bool:
    """Give the file that is appended to its last name; say whether there was one and nobody was appending."""
    path = folder / CURRENT
    with suppress(OSError), _handle(path, os.O_RDONLY) as handle:
        if not _own(handle) or not _is_at(path, handle):
            return False
        numbers = [int(name[:-6]) for name in os.listdir(folder) if name[:-6].isdecimal() and name.endswith(".jsonl")]
        os.rename(path, folder / f"{max(numbers, default=0) + 1:06d}.jsonl")  # noqa: PTH104 - never over another
        return True
    return False


def log_files(folder: Path) -> list[Path]:
    """Return the files of a log, those that were set aside first, in their order."""
    try:
        names = sorted(name for name in os.listdir(folder) if name.endswith(".jsonl"))
    except (FileNotFoundError, NotADirectoryError):
        return []
    return [folder / name for name in names]  # digits sort before letters: the current one comes last


@contextmanager
def _opened(path: Path) -> Iterator[int]:
    """Open the file that has the name now, and keep it from being set aside."""
    for _ in range(_TRIES):
        with _handle(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT) as handle:
            _share(handle)
            if _is_at(path, handle):
                yield handle
                return
    raise OSError(5, "is set aside all the time")


@contextmanager
def _handle(path: Path, flags: int) -> Iterator[int]:
    own = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    handle = os.open(path, flags | own, PRIVATE_FILE)
    try:
        yield handle
    finally:
        os.close(handle)


def _is_at(path: Path, handle: int) -> bool:
    """Say whether an open file still has its name."""
    try:
        there = os.stat(path)
    except FileNotFoundError:
        return False
    return os.path.samestat(there, os.fstat(handle))


def _last_byte(path: Path, size: int) -> bytes:
    with _handle(path, os.O_RDONLY) as handle:
        os.lseek(handle, size - 1, os.SEEK_SET)
        return os.read(handle, 1)
