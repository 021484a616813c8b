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

    from fabula.record.sources import TypedLines

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
        self.typed: TypedLines | None = None
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
                chunk, used = parse_lines(data, offset, last=last, typed=self.typed)
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


def parse_lines(data: bytes, base: int, *, last: bool, typed: TypedLines | None = None) -> tuple[Chunk, int]:
    """Find the values of whole lines; return the chunk and how many bytes of ``data`` it takes.

    With ``typed``, lines that fit are typed values, all others what they are without it.
    """
    end = data.rfind(b"\n") + 1
    values = _whole_lines(data, base, end, typed)
    if values is None:
        values, unreadable = _line_by_line(data, base, end, typed)
    else:
        unreadable = 0
    if last and end < len(data):
        from fabula.record.containers.json_scan import scan_values

        rest = scan_values(data, end, len(data), base)
        if rest.whole:
            values += rest.values
            end = len(data)
    return Chunk(base, data if end == len(data) else data[:end], values, unreadable), end


def _whole_lines(data: bytes, base: int, end: int, typed: TypedLines | None) -> list[Found] | None:
    """Decode all lines at once; ``None`` unless each is plainly one object of moderate size.

    Between two lines stands ``}`` line feed ``{``, where no value can go on: as many values as lines are one a line.
    """
    from msgspec import MsgspecError  # here, because a container is made by many who never read it whole

    from fabula.record.containers.json_scan import WHOLE_LIMIT, decoder

    if not 0 < end <= WHOLE_LIMIT:
        return None
    values: list[Found] = []
    found, find, view = values.append, data.find, memoryview(data)
    holds_all = typed.holds_all if typed else None
    pos = 0
    try:
        for value in (typed or decoder).decode_lines(view[:end]):
            stop = find(b"\n", pos)
            if stop <= pos or data[pos] != 0x7B or data[stop - 1] != 0x7D:
                return None
            whole = value if holds_all is None or holds_all(value) else decoder.decode(view[pos:stop])
            found(Found(base + pos, stop - pos, whole))
            pos = stop + 1
    except (MsgspecError, ValueError, RecursionError):
        return None
    return values if pos == end else None


def _line_by_line(data: bytes, base: int, end: int, typed: TypedLines | None) -> tuple[list[Found], int]:
    """Find the values of each line by itself; return them and the number of unreadable bytes."""
    from fabula.record.containers.json_scan import scan_values

    values: list[Found] = []
    unreadable = pos = 0
    while pos < end:
        stop = data.index(b"\n", pos)
        if one := _whole_lines(data[pos : stop + 1], base + pos, stop + 1 - pos, typed):
            values += one
        elif stop > pos:
            scan = scan_values(data, pos, stop, base)
            values += scan.values
            unreadable += scan.unreadable
        pos = stop + 1
    return values, unreadable
