"""Files on disk: atomic and durable writes, private modes, no-follow reads. Standard library only (hooks use it)."""

from __future__ import annotations

import errno
import os
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from fabula.kernel.errors import FabulaError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PRIVATE_FILE = 0o600
PRIVATE_FOLDER = 0o700

TEMPORARY = ".fabula-tmp"  # the ending of new files before they have their name, after the number of the process

_NO_LINKS = {errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EMLINK, errno.ENOSYS}
_DISK_ERRORS = {errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EFBIG}
_READ_ONLY_ERRORS = {errno.EROFS, errno.EACCES, errno.EPERM}


def ensure_folder(path: Path) -> None:
    """Create ``path`` and its parents, for the user alone. Raises ``ERR_READ_ONLY``, ``ERR_DISK``, ``ERR_PATH``."""
    with disk_errors(path):
        path.mkdir(mode=PRIVATE_FOLDER, parents=True, exist_ok=True)


def sync_folder(path: Path) -> None:
    """Make renames and creations in ``path`` durable."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError as error:  # some file systems refuse to sync a folder: the rename itself is what they offer
        if error.errno not in {errno.EINVAL, errno.ENOTSUP, errno.EBADF}:
            raise
    finally:
        os.close(handle)


def write_atomic(path: Path, data: bytes, *, mode: int = PRIVATE_FILE) -> None:
    """Replace ``path`` by ``data``: temporary file, fsync, rename, fsync of the folder.

    A reader sees the old or the new bytes, never a mixture; a crash leaves one of both.
    Raises ``ERR_READ_ONLY`` or ``ERR_DISK``.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    with disk_errors(path):
        try:
            handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_NOFOLLOW", 0), mode)
            with os.fdopen(handle, "wb") as stream:
                stream.write(data)
                stream.flush()
                os.fsync(stream.fileno())
            os.replace(temporary, path)
            sync_folder(path.parent)
        except BaseException:
            with suppress(OSError):
                os.unlink(temporary)
            raise


def create_atomic(path: Path, data: bytes, *, mode: int = PRIVATE_FILE) -> None:
    """Write a new file whole, durably, and never over one that is there.

    Temporary files that a crash left beside it are removed. Raises ``ERR_PATH`` when ``path`` exists, ``ERR_READ_ONLY``
    or ``ERR_DISK``.
    """
    clear_temporary(path.parent)
    temporary = path.with_name(f".{path.name}.{os.getpid()}{TEMPORARY}")
    with suppress(OSError):
        os.unlink(temporary)  # of a process before us that had our number
    with disk_errors(path):
        try:
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
            handle = os.open(temporary, flags, mode)
            try:
                view = memoryview(data)
                while view:
                    view = view[os.write(handle, view) :]
                os.fsync(handle)
            finally:
                os.close(handle)
            _name_new(temporary, path)
        finally:
            with suppress(OSError):
                os.unlink(temporary)
        sync_folder(path.parent)


def _name_new(temporary: Path, path: Path) -> None:
    """Give a file its name unless that is taken: a second link where there are links, else a rename."""
    try:
        os.link(temporary, path)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        if os.path.lexists(path):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST)) from error
        os.rename(temporary, path)  # noqa: PTH104 - which on some systems refuses where replacing would not


def clear_temporary(folder: Path) -> None:
    """Remove temporary files of ours in ``folder`` whose process is gone."""
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            name, _, number = entry.name.removesuffix(TEMPORARY).rpartition(".")
            ours = name.startswith(".") and entry.name.endswith(TEMPORARY) and number.isdecimal()
            if ours and not _runs(int(number)):
                with suppress(OSError):
                    os.unlink(entry.path)


def _runs(process: int) -> bool:
    """Say whether a process runs; one that cannot be asked counts as running."""
    if os.name != "posix":
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True


@contextmanager
def disk_errors(path: Path | str) -> Iterator[None]:
    """Translate what a disk refuses into errors a person can act on."""
    try:
        yield
    except OSError as error:
        raise disk_error(error, path) from error


def _nearest(path: str) -> str:
    """Return a path or the nearest folder above it that is there: a command fails on what is not."""
    while not os.path.lexists(path) and os.path.dirname(path) not in ("", path):
        path = os.path.dirname(path)
    return path


def disk_error(error: OSError, path: Path | str) -> FabulaError:
    """Say what an ``OSError`` on one of our own files means."""
    from shlex import quote  # errors are rare, and this costs a start

    there = quote(_nearest(str(path)))
    said = f"{path}: {error.strerror}"
    if error.errno in _DISK_ERRORS:
        return FabulaError("ERR_DISK", said, f"free some space, then repeat: df -h {there}")
    if error.errno == errno.EROFS:  # no mode of a file changes that
        return FabulaError("ERR_READ_ONLY", said, f"mount its disk for writing: findmnt --target {there}")
    if error.errno in _READ_ONLY_ERRORS:
        return FabulaError("ERR_READ_ONLY", said, f"make it writable: chmod -R u+rwX {there}")
    return FabulaError("ERR_PATH", f"{path}: {error.strerror or error}")
