"""Compressed JSON lines (``.jsonl.zst``, ``.jsonl.gz``): spans count bytes of the decompressed stream.

The stream is read forwards in bounded memory. A damaged or cut stream keeps what came out before the damage.
"""

from __future__ import annotations

import sys
import zlib
from typing import TYPE_CHECKING, Protocol

from fabula.record.containers.jsonl import CHUNK_BYTES, TAIL_BYTES, open_regular, parse_lines
from fabula.record.sources import Chunk

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

if TYPE_CHECKING:
    from collections.abc import Iterator

LINE_LIMIT = 256 << 20  # a longer line is unreadable: a small file may unfold to any size

_INPUT_BYTES = 1 << 20
_OUTPUT_BYTES = 1 << 20


class _Member(Protocol):
    """One frame or member of a compressed file."""

    @property
    def eof(self) -> bool:
        """Whether its end was reached."""
        ...

    @property
    def unused_data(self) -> bytes:
        """Input behind its end."""
        ...

    def feed(self, data: bytes) -> bytes:
        """Return more output, at most ``_OUTPUT_BYTES``; ``b""`` asks for what is still inside."""
        ...

    def drained(self) -> bool:
        """Whether more input is needed before more output can come."""
        ...


class _Zstd:
    def __init__(self) -> None:
        self._inner = zstd.ZstdDecompressor()

    @property
    def eof(self) -> bool:
        return bool(self._inner.eof)

    @property
    def unused_data(self) -> bytes:
        return bytes(self._inner.unused_data)

    def feed(self, data: bytes) -> bytes:
        return bytes(self._inner.decompress(data, _OUTPUT_BYTES))

    def drained(self) -> bool:
        return bool(self._inner.needs_input)


class _Gzip:
    def __init__(self) -> None:
        self._inner = zlib.decompressobj(wbits=31)

    @property
    def eof(self) -> bool:
        return self._inner.eof

    @property
    def unused_data(self) -> bytes:
        return self._inner.unused_data

    def feed(self, data: bytes) -> bytes:
        return self._inner.decompress(self._inner.unconsumed_tail + data, _OUTPUT_BYTES)

    def drained(self) -> bool:
        return not self._inner.unconsumed_tail


class CompressedJsonLines:
    """A compressed file of JSON lines (``record.sources.Container``).

    ``damage`` says why the stream ended early, or is empty. Of a cut stream the last line waits, as in a plain file;
    of a damaged one it is unreadable.
    """

    def __init__(self, path: str, chunk_bytes: int = CHUNK_BYTES) -> None:
        self.path = path
        self.waiting = 0
        self.tail = b""
        self.damage = ""
        self._chunk_bytes = chunk_bytes

    def chunks(self, start: int = 0) -> Iterator[Chunk]:
        """Yield the chunks behind the first ``start`` decompressed bytes. Raises ``OSError``."""
        self.waiting, self.tail, self.damage = 0, b"", ""
        offset, held = start, bytearray()
        for piece in self._behind(start):
            held += piece
            if len(held) < self._chunk_bytes:
                continue
            end = held.rfind(b"\n") + 1
            if end:
                yield parse_lines(bytes(held[:end]), offset, last=False)[0]
            elif len(held) > LINE_LIMIT:
                end = len(held)
                yield Chunk(offset, bytes(held), unreadable=end)
            del held[:end]
            offset += end
        yield from self._rest(bytes(held), offset)

    def _rest(self, data: bytes, offset: int) -> Iterator[Chunk]:
        chunk, used = parse_lines(data, offset, last=True)
        left = len(data) - used
        if left and self.damage and self.damage != "cut":
            chunk, used = Chunk(chunk.offset, data, chunk.values, chunk.unreadable + left), len(data)
        if used:
            yield chunk
        self.waiting = len(data) - used
        self.tail = data[used : used + TAIL_BYTES]

    def _behind(self, start: int) -> Iterator[bytes]:
        skipped = 0
        for piece in self._pieces():
            if skipped >= start:
                yield piece
                continue
            left = start - skipped
            skipped += len(piece)
            if len(piece) > left:
                yield piece[left:]

    def _pieces(self) -> Iterator[bytes]:
        """Yield decompressed pieces, member after member; stop at damage and remember it."""
        make = _Gzip if self.path.endswith(".gz") else _Zstd
        with open_regular(self.path) as file:
            member: _Member | None = None
            while data := file.read(_INPUT_BYTES):
                while data or (member is not None and not member.drained()):
                    member = member or make()
                    try:
                        piece = member.feed(data)
                    except (zstd.ZstdError, zlib.error, EOFError) as error:
                        self.damage = str(error) or "damaged"
                        return
                    data = member.unused_data if member.eof else b""
                    if member.eof:
                        member = None
                    if piece:
                        yield piece
            if member is not None:
                self.damage = "cut"
