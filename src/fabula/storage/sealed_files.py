"""SQLite's files, sealed: a VFS that seals each page, each part of the write-ahead log, each block of any other file.

::

    file  = head block*              head = magic "FBSEALED" version:u8 kind:u8 key id:16 zeros, 64 bytes in all
    block = nonce:24 ciphertext tag:16

SQLite sees the bytes before sealing; a block of its file is ``OVERHEAD`` bytes longer on the disk. Blocks are what
SQLite writes at once: pages of a database; of a write-ahead log its header, then for each frame its header and its
page; of anything else (rollback journals, which there are for the first page alone) 4096 bytes. The place of a block,
kind and number, is its associated data. The index of the log (``-shm``) holds page numbers and no content.

A block that does not open is damage, except where SQLite only looks what there is. Where it looks how far a log is
whole, the frame that a crash cut in two reads as zeros, which fails the log's own checksum as it would without sealing.
And a first page that a crash cut in two while the log was merged has a head of zeros, until the log gives it back.
"""

from __future__ import annotations

from struct import Struct
from typing import TYPE_CHECKING

import apsw

from fabula.storage.cipher import OVERHEAD, Cipher, UnsealError
from fabula.storage.keyring import SEALED

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGE = 4096
HEAD = 64
VERSION = 1
DATABASE, LOG, OTHER = 0, 1, 2

_LOG_HEADER = 32
_FRAME_HEADER = 24
_DATABASE_HEADER = 100
_FRAME = _FRAME_HEADER + PAGE
_PLACE = Struct("<BQ")
_ZEROS = bytes(PAGE + OVERHEAD)
_DEFAULT = ""  # the VFS that SQLite would take

Block = tuple[int, int, int, int]  # number, first byte in SQLite's file, bytes there, first byte on the disk


def head(kind: int, key_id: bytes) -> bytes:
    """Return the first bytes of a sealed file."""
    return (SEALED + bytes((VERSION, kind)) + key_id).ljust(HEAD, b"\0")


def page_block(offset: int) -> Block:
    """Return the block that holds a byte of a database."""
    number = offset // PAGE
    return number, number * PAGE, PAGE, HEAD + number * (PAGE + OVERHEAD)


def log_block(offset: int) -> Block:
    """Return the block that holds a byte of a write-ahead log: header, (frame's header, page)*."""
    if offset < _LOG_HEADER:
        return 0, 0, _LOG_HEADER, HEAD
    frame, within = divmod(offset - _LOG_HEADER, _FRAME)
    start = _LOG_HEADER + frame * _FRAME
    disk = HEAD + _LOG_HEADER + OVERHEAD + frame * (_FRAME + 2 * OVERHEAD)
    if within < _FRAME_HEADER:
        return 1 + 2 * frame, start, _FRAME_HEADER, disk
    return 2 + 2 * frame, start + _FRAME_HEADER, PAGE, disk + _FRAME_HEADER + OVERHEAD


def page_extent(disk: int) -> int:
    """Return how many bytes SQLite sees in a database of ``disk`` bytes; an unfinished block does not count."""
    return max(0, disk - HEAD) // (PAGE + OVERHEAD) * PAGE


def log_extent(disk: int) -> int:
    """Return how many bytes SQLite sees in a write-ahead log of ``disk`` bytes."""
    rest = disk - HEAD - _LOG_HEADER - OVERHEAD
    if rest < 0:
        return 0
    frames, within = divmod(rest, _FRAME + 2 * OVERHEAD)
    return _LOG_HEADER + frames * _FRAME + (_FRAME_HEADER if within >= _FRAME_HEADER + OVERHEAD else 0)


class SealedFile(apsw.VFSFile):
    """One open file of SQLite's."""

    def __init__(self, base: str, name: str | apsw.URIFilename | None, flags: list[int], cipher: Cipher) -> None:
        super().__init__(base, name, flags)
        opened = flags[0]
        self._cipher = cipher
        self._kind = DATABASE if opened & apsw.SQLITE_OPEN_MAIN_DB else LOG if opened & apsw.SQLITE_OPEN_WAL else OTHER
        self._block = log_block if self._kind == LOG else page_block
        self._extent = log_extent if self._kind == LOG else page_extent
        self._read_only = bool(opened & apsw.SQLITE_OPEN_READONLY)

    def xLock(self, level: int) -> None:  # noqa: N802 - SQLite's name
        """Take a lock. Who only reads cannot have the file alone: a closing reader asks, and goes without."""
        if self._read_only and level == apsw.SQLITE_LOCK_EXCLUSIVE:
            raise apsw.BusyError
        super().xLock(level)

    def xRead(self, amount: int, offset: int) -> bytes:  # noqa: N802 - SQLite's name
        """Return up to ``amount`` bytes from ``offset``."""
        if self._kind == LOG:
            searching = amount > PAGE or amount == _LOG_HEADER
        else:
            searching = amount < PAGE and offset < _DATABASE_HEADER
        parts = []
        for number, start, size, disk in self._blocks(offset, amount):
            data = self._get(number, size, disk, searching=searching)
            parts.append(data[max(0, offset - start) : offset + amount - start])
            if len(data) < size:
                break
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802 - SQLite's name
        """Write ``data`` at ``offset``; a block of which it is a part is read first."""
        view, end = memoryview(data), offset + len(data)
        for number, start, size, disk in self._blocks(offset, len(data)):
            piece = bytes(view[max(0, start - offset) : start + size - offset])
            if len(piece) < size:
                old = self._get(number, size, disk, searching=False).ljust(size, b"\0")
                at = max(0, offset - start)
                piece = old[:at] + piece + old[min(size, end - start) :]
            sealed = self._cipher.seal(piece, _PLACE.pack(self._kind, number))
            if number:
                super().xWrite(sealed, disk)
            else:
                super().xWrite(head(self._kind, self._cipher.key_id) + sealed, 0)

    def xFileSize(self) -> int:  # noqa: N802 - SQLite's name
        """Return how many bytes SQLite sees."""
        return self._extent(super().xFileSize())

    def xTruncate(self, newsize: int) -> None:  # noqa: N802 - SQLite's name
        """Cut the file behind the block that holds its byte before ``newsize``."""
        if newsize <= 0:
            super().xTruncate(0)
            return
        _, _, size, disk = self._block(newsize - 1)
        super().xTruncate(disk + size + OVERHEAD)

    def _blocks(self, offset: int, amount: int) -> Iterator[Block]:
        end = offset + amount
        while offset < end:
            block = self._block(offset)
            yield block
            offset = block[1] + block[2]

    def _get(self, number: int, size: int, disk: int, *, searching: bool) -> bytes:
        """Return a block; empty where the file ends before it, zeros where nothing was ever written."""
        sealed = super().xRead(size + OVERHEAD, disk)
        if len(sealed) < size + OVERHEAD:
            return b""
        try:
            return self._cipher.open(sealed, _PLACE.pack(self._kind, number))
        except UnsealError as error:
            if searching or sealed == _ZEROS[: len(sealed)]:
                return bytes(size)
            raise apsw.CorruptError(f"block {number}: {error}") from error


class SealedVFS(apsw.VFS):
    """Opens every file of a database sealed under one key."""

    def __init__(self, name: str, cipher: Cipher) -> None:
        self._cipher = cipher
        super().__init__(name, _DEFAULT)

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> SealedFile:  # noqa: N802 - SQLite's name
        """Open one file."""
        return SealedFile(_DEFAULT, name, flags, self._cipher)


_vfs: dict[bytes, SealedVFS] = {}


def vfs_of(cipher: Cipher) -> str:
    """Return the name of the VFS that seals under a key; it is registered with SQLite at its first use."""
    name = f"fabula-{cipher.key_id.hex()}"
    if cipher.key_id not in _vfs:
        _vfs[cipher.key_id] = SealedVFS(name, cipher)
    return name
