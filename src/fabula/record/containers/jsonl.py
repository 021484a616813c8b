"""JSON lines: the container of most transcripts. Exact byte spans, whatever the bytes; see ``json_scan``.

A line is what lies between line feeds. The line feed decides what is torn: only a last line without one can wait.
"""

from __future__ import annotations

import errno
import os
import stat
from io import FileIO
from typing import TYPE_CHECKING

from fabula.record.sources import Chunk, Found

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Chunks are about this long; a single longer line makes a longer chunk. Decoding half a MB at a time stays in the
#: processor's cache: 8 MB chunks cost a third more.
CHUNK_BYTES = 512 << 10
#: How much of a waiting line is kept in ``tail``.
TAIL_BYTES = 16 << 20


class JsonLines:
    """A file of JSON lines (``record.sources.Container``).

    The file is read through one open descriptor and up to the size it had when it was opened: what is appended
    meanwhile is for the next scan, a file that shrinks meanwhile ends early.
    """

    def __init__(self, path: str, chunk_bytes: int = CHUNK_BYTES) -> None:
        self.path = path
        self.waiting = 0
        self.tail = b""
        self._chunk_bytes = chunk_bytes

    def chunks(self, start: int = 0) -> Iterator[Chunk]:
        """Yield the file's chunks from ``start``, the end of an earlier chunk. Raises ``OSError``."""
        self.waiting, self.tail = 0, b""
        with open_regular(self.path) as file:
            size = os.fstat(file.fileno()).st_size
            offset = start
            while offset < size:
                data = _read_lines(file, offset, size, self._chunk_bytes)
                last = offset + len(data) >= size or not data.endswith(b"\n")
                chunk, used = parse_lines(data, offset, last=last)
                if used:
                    yield chunk
                if last:
                    self.waiting = len(data) - used
                    self.tail = data[used : used + TAIL_BYTES]
                    return
                offset += used


def open_regular(path: str) -> FileIO:
    """Open a regular file for unbuffered reading. Raises ``OSError``, also for pipes, devices and folders."""
    flags = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
    file = FileIO(os.open(path, flags), "r")
    if stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        return file
    file.close()
    raise OSError(errno.EINVAL, "not a regular file", path)


def _read_lines(file: FileIO, offset: int, size: int, chunk_bytes: int) -> bytes:
    """Read whole lines from ``offset``: about a chunk, or one longer line, or the rest of the file."""
    data = _read_at(file, offset, min(chunk_bytes, size - offset))
    if offset + len(data) >= size or not data:
        return data
    end = data.rfind(b"\n") + 1
    if end:
        return data[:end]
    ahead = offset + len(data)
    del data  # a long line is measured first and then read once, so that it lies in memory once
    while ahead < size:
        block = _read_at(file, ahead, min(chunk_bytes, size - ahead))
        found = block.find(b"\n")
        ahead += found + 1 if found >= 0 else len(block)
        if found >= 0 or not block:
            break
    return _read_at(file, offset, ahead - offset)


def _read_at(file: FileIO, offset: int, length: int) -> bytes:
    file.seek(offset)
    return file.read(length) or b""


def parse_lines(data: bytes, base: int, *, last: bool) -> tuple[Chunk, int]:
    """Find the values of whole lines; return the chunk and how many bytes of ``data`` it takes."""
    from msgspec import MsgspecError  # here, because a container is made by many who never read it whole

    from fabula.record.containers.json_scan import WHOLE_LIMIT, decoder, scan_values

    values: list[Found] = []
    found = values.append
    find, decode = data.find, decoder.decode
    view = memoryview(data)
    unreadable = 0
    pos = 0
    while (end := find(b"\n", pos)) >= 0:
        length = end - pos
        if length and data[pos] == 0x7B and data[end - 1] == 0x7D and length <= WHOLE_LIMIT:
            try:
                found(Found(base + pos, length, decode(view[pos:end])))
                pos = end + 1
                continue
            except (MsgspecError, ValueError, RecursionError):
                pass  # scanned with care below
        if length:
            scan = scan_values(data, pos, end, base)
            values += scan.values
            unreadable += scan.unreadable
        pos = end + 1
    if last and pos < len(data):
        rest = scan_values(data, pos, len(data), base)
        if rest.whole:
            values += rest.values
            pos = len(data)
    return Chunk(base, data if pos == len(data) else data[:pos], values, unreadable), pos
