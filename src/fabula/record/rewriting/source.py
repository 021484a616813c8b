"""The file that is rewritten: read once, watched while it is rewritten, and replaced in one step."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING, Self

from fabula.kernel.errors import FabulaError
from fabula.record.containers.jsonl import open_regular
from fabula.record.rewriting.plan import Snapshot
from fabula.storage.files import disk_errors, sync_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import TracebackType

    from fabula.record.rewriting.plan import Plan

_PIECE = 1 << 20
_WINDOW = 4096  # bytes before the end of what was read: they tell a file that grew from one that was edited
_ATTEMPTS = 50  # how often a host may append between two looks before the rewriting gives up


def temporary_name(path: str) -> str:
    """Return where this process writes the new file: beside the old one, by a name that no host or scan takes up."""
    folder, name = os.path.split(path)
    return os.path.join(folder, f".{name}.{os.getpid()}.fabula-tmp")


class OpenSource:
    """A transcript under rewriting. Its descriptor stays open, so that bytes written at the last moment are seen."""

    def __init__(self, path: str) -> None:
        self.path = os.path.realpath(path)
        with disk_errors(self.path):
            self._file = open_regular(self.path)
        self._stat = os.fstat(self._file.fileno())
        self._copied = 0  # how far the new file has what the old one holds

    def read(self) -> Snapshot:
        """Read the whole file, once; what is appended from now on is the tail."""
        with disk_errors(self.path):
            data = _read(self._file.fileno(), 0, self._stat.st_size)
        self._copied = len(data)
        self._window = data[-_WINDOW:]
        return Snapshot(self.path, data)

    def replace(self, snapshot: Snapshot, plan: Plan, seal: Callable[[str], None]) -> int:
        """Put the planned bytes and the tail in the file's place; return how many bytes of tail there are.

        ``seal`` is called with the new file before it takes the place: what was never sealed never stands there.
        Raises ``ERR_CHANGED`` when the file is another one or was edited, ``ERR_DISK``, ``ERR_READ_ONLY``; then the
        file is as it was.
        """
        temporary = temporary_name(self.path)
        start = self._copied
        with disk_errors(os.path.dirname(self.path)):
            try:
                self._write(temporary, plan.pieces(snapshot.data))
                seal(temporary)
                self._settle(temporary)
                os.replace(temporary, self.path)
            except BaseException:
                with suppress(OSError):
                    os.unlink(temporary)
                raise
            self.rescue()
            sync_folder_of(self.path)
        self.rescue()
        return self._copied - start

    def rescue(self) -> None:
        """Append to the new file what a host that had the old one open wrote there since it was last looked at.

        Hosts open, append and close: what one does between its opening and its writing is caught while this goes on
        looking. Raises ``ERR_DISK``.
        """
        with disk_errors(self.path):
            if os.fstat(self._file.fileno()).st_size <= self._copied:
                return
            handle = os.open(self.path, os.O_WRONLY | os.O_APPEND | getattr(os, "O_BINARY", 0))
            try:
                self._copy_tail(handle)
                os.fsync(handle)
            finally:
                os.close(handle)

    def _write(self, temporary: str, pieces: Iterator[bytes | memoryview]) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
        handle = os.open(temporary, flags, 0o600)
        try:
            for piece in _gathered(pieces):
                _write_all(handle, piece)
            self._copy_tail(handle)
            self._dress(handle)
            os.fsync(handle)
        finally:
            os.close(handle)

    def _dress(self, handle: int) -> None:
        """Give the new file the old one's mode and owner."""
        if hasattr(os, "fchmod"):
            os.fchmod(handle, self._stat.st_mode & 0o7777)
        if hasattr(os, "fchown"):
            with suppress(OSError):  # only root may give a file away
                os.fchown(handle, self._stat.st_uid, self._stat.st_gid)

    def _settle(self, temporary: str) -> None:
        """Take over what was appended since, until the file has stood still between two looks; then keep its time."""
        for _ in range(_ATTEMPTS):
            now = os.stat(self.path)
            self._check(now)
            if now.st_size == self._copied:
                os.utime(temporary, ns=(now.st_atime_ns, now.st_mtime_ns))
                return
            handle = os.open(temporary, os.O_WRONLY | os.O_APPEND | getattr(os, "O_BINARY", 0))
            try:
                self._copy_tail(handle)
                os.fsync(handle)
            finally:
                os.close(handle)
        raise _changed(self.path, "it is written to without a pause")

    def _check(self, now: os.stat_result) -> None:
        if (now.st_dev, now.st_ino) != (self._stat.st_dev, self._stat.st_ino):
            raise _changed(self.path, "another file has taken its place")
        end = self._stat.st_size
        edited = now.st_size < self._copied or (now.st_size == end and now.st_mtime_ns != self._stat.st_mtime_ns)
        if edited or _read(self._file.fileno(), end - len(self._window), len(self._window)) != self._window:
            raise _changed(self.path, "it was edited while it was read")

    def _copy_tail(self, handle: int) -> None:
        while True:
            piece = _read(self._file.fileno(), self._copied, _PIECE)
            if not piece:
                return
            _write_all(handle, piece)
            self._copied += len(piece)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()


def sync_folder_of(path: str) -> None:
    """Make what happened to a file's name durable."""
    from pathlib import Path

    sync_folder(Path(path).parent)


def _changed(path: str, why: str) -> FabulaError:
    return FabulaError("ERR_CHANGED", f"{path}: {why}; nothing was changed", "close the session, then repeat it")


def _gathered(pieces: Iterator[bytes | memoryview]) -> Iterator[bytes]:
    """Join short pieces: one write for about a MB."""
    parts: list[bytes | memoryview] = []
    size = 0
    for piece in pieces:
        parts.append(piece)
        size += len(piece)
        if size >= _PIECE:
            yield b"".join(parts)
            parts, size = [], 0
    if parts:
        yield b"".join(parts)


def _read(handle: int, offset: int, length: int) -> bytes:
    """Read up to ``length`` bytes at ``offset``; fewer where the file ends."""
    parts = []
    while length > 0:
        part = os.pread(handle, min(length, 1 << 30), offset)
        if not part:
            break
        parts.append(part)
        offset += len(part)
        length -= len(part)
    return parts[0] if len(parts) == 1 else b"".join(parts)


def _write_all(handle: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(handle, view) :]
