"""Files of a work tree: read, placed and removed without ever following a link out of the root.

Each folder on the way is opened by itself, from the root down, refusing links (``O_NOFOLLOW``); where a system has no
such calls, each is looked at before it is used.
"""

from __future__ import annotations

import errno
import os
import stat
from contextlib import contextmanager, suppress
from secrets import token_hex
from typing import TYPE_CHECKING

from fabula.kernel.errors import FabulaError
from fabula.storage.files import PRIVATE_FOLDER, disk_errors

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FILE_LIMIT = 64 * 1024 * 1024  # bytes of a file of a work tree that are read

_BY_HANDLE = os.open in os.supports_dir_fd and hasattr(os, "O_NOFOLLOW") and hasattr(os, "O_DIRECTORY")
_NOT_A_FOLDER = {errno.ENOTDIR, errno.ELOOP}
_TEMPORARY = ".fabula-tmp"


class Left(Exception):  # noqa: N818 - no fault: a person was there first
    """Something else came to be at the path; it was left as it is."""


def read_file(root: Path, path: str) -> bytes | None:
    """Return the bytes at a path, ``None`` when there is nothing.

    Raises ``ERR_PATH`` when the path, or a folder on the way, is a link or no plain file, or the file is too large.
    """
    try:
        with _folder_of(root, path, make=False) as (handle, name), disk_errors(root / path):
            found = _stat(name, handle)
            if found is None:
                return None
            if not stat.S_ISREG(found.st_mode):
                raise _unsafe(path, "is not a plain file in the work tree")
            if found.st_size > FILE_LIMIT:
                raise _unsafe(path, f"has more than {FILE_LIMIT} bytes in the work tree")
            flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
            with open(os.open(name, flags, dir_fd=handle), "rb") as stream:
                return stream.read()
    except FileNotFoundError:
        return None


def place_file(root: Path, path: str, staged: Path, over: bytes | None) -> None:
    """Give a file that was written elsewhere its name in the work tree.

    ``over``: the bytes it replaces, ``None`` when nothing may be there. Folders are made. Raises :class:`Left` when
    something else is there.
    """
    if read_file(root, path) != over:
        raise Left(path)
    with _folder_of(root, path, make=True) as (handle, name), disk_errors(root / path):
        found = _stat(name, handle)
        if found is not None:
            staged.chmod(stat.S_IMODE(found.st_mode))
        _rename(staged, name, handle, new=over is None)


def remove_file(root: Path, path: str, known: bytes | None) -> None:
    """Remove a file whose bytes are known, and the folders that it leaves empty. Raises :class:`Left` otherwise."""
    there = read_file(root, path)
    if there is None:
        return
    if there != known:
        raise Left(path)
    with suppress(FileNotFoundError), _folder_of(root, path, make=False) as (handle, name), disk_errors(root / path):
        os.unlink(name, dir_fd=handle)
    parts = path.split("/")[:-1]
    while parts:
        folder = "/".join(parts)
        try:
            with _folder_of(root, folder, make=False) as (handle, name):
                os.rmdir(name, dir_fd=handle)
        except (OSError, FabulaError):
            return  # not empty
        parts.pop()


def _rename(staged: Path, name: str, handle: int | None, *, new: bool) -> None:
    """Name a file; a new one never takes the place of another."""
    try:
        if new:
            _name_new(staged, name, handle)
        else:
            os.replace(staged, name, dst_dir_fd=handle)
    except OSError as error:
        if error.errno == errno.EEXIST:
            raise Left(name) from error
        if error.errno != errno.EXDEV:
            raise
        near = f".{os.path.basename(name)[:100]}.{token_hex(4)}{_TEMPORARY}"
        near = os.path.join(os.path.dirname(name), near)
        _copy(staged, near, handle)
        try:
            if new:
                os.link(near, name, src_dir_fd=handle, dst_dir_fd=handle)
            else:
                os.replace(near, name, src_dir_fd=handle, dst_dir_fd=handle)
        except FileExistsError as there:
            raise Left(name) from there
        finally:
            with suppress(OSError):
                os.unlink(near, dir_fd=handle)
        staged.unlink()


def _name_new(staged: Path, name: str, handle: int | None) -> None:
    try:
        os.link(staged, name, dst_dir_fd=handle)
    except OSError as error:
        if error.errno in {errno.EEXIST, errno.EXDEV}:
            raise
        if _stat(name, handle) is not None:  # a file system without second links
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST)) from error
        os.replace(staged, name, dst_dir_fd=handle)
    else:
        staged.unlink()


def _copy(staged: Path, name: str, handle: int | None) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    with open(os.open(name, flags, stat.S_IMODE(staged.stat().st_mode), dir_fd=handle), "wb") as stream:
        stream.write(staged.read_bytes())
        stream.flush()
        os.fsync(stream.fileno())


def _stat(name: str, handle: int | None) -> os.stat_result | None:
    try:
        return os.stat(name, dir_fd=handle, follow_symlinks=False)
    except FileNotFoundError:
        return None


@contextmanager
def _folder_of(root: Path, path: str, *, make: bool) -> Iterator[tuple[int | None, str]]:
    """Open the folder of a path; yield its handle and the name in it (without handles: ``None`` and the whole path)."""
    *folders, name = path.split("/")
    if not _BY_HANDLE:
        _look_at(root, folders, path, make=make)
        yield None, str(root.joinpath(*folders, name))
        return
    handle = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
    try:
        for folder in folders:
            inner = _opened(folder, handle, path, make=make)
            os.close(handle)
            handle = inner
        yield handle, name
    finally:
        os.close(handle)


def _opened(folder: str, handle: int, path: str, *, make: bool) -> int:
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
    try:
        return os.open(folder, flags, dir_fd=handle)
    except FileNotFoundError:
        if not make:
            raise
        with disk_errors(path), suppress(FileExistsError):
            os.mkdir(folder, PRIVATE_FOLDER, dir_fd=handle)
        return os.open(folder, flags, dir_fd=handle)
    except OSError as error:
        if error.errno in _NOT_A_FOLDER:
            raise _unsafe(path, f"leads through {folder!r}, which is no folder of the work tree") from error
        raise


def _look_at(root: Path, folders: list[str], path: str, *, make: bool) -> None:
    place = root
    for folder in folders:
        place = place / folder
        if make and not os.path.lexists(place):
            with disk_errors(place), suppress(FileExistsError):
                place.mkdir(PRIVATE_FOLDER)
        if not stat.S_ISDIR(os.lstat(place).st_mode):
            raise _unsafe(path, f"leads through {folder!r}, which is no folder of the work tree")


def _unsafe(path: str, why: str) -> FabulaError:
    return FabulaError("ERR_PATH", f"{path!r} {why}")
