"""Manifests: how a generation is put together from records, gaps and holes. Pure.

A segment of a manifest describes consecutive pieces: their kinds, their lengths, the bytes of short gaps, and the
digests of the pieces that lie in packs.
"""

from __future__ import annotations

from bisect import bisect_right
from functools import cache
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from fabula.kernel.hashes import DIGEST_BYTES
from fabula.kernel.values import define
from fabula.record.vault.journal_shared import SHARED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from fabula.storage.packs_codec import Compressor

RECORD = ord("r")  # a span that the reader of the source named: its digest may be cited
GAP = ord("g")  # short bytes between records, kept in the manifest
FAR_GAP = ord("f")  # long bytes between records (unreadable lines, say), kept in a pack
HOLE = ord("h")  # bytes that were forgotten on purpose
IN_PACK = (RECORD, FAR_GAP)

PIECES_PER_SEGMENT = 2048  # at most
#: A segment ends behind a record whose digest begins so: about one in 32 does, whatever is around it. So what several
#: generations have in common falls into the same segments in each, and is written once; three of them fit a page.
ENDS_MASK = 31
_PLAIN_LIMIT = 1024  # below it compressing costs more time than it saves bytes: what repeats is shared


@cache
def _encode() -> Callable[[Any], bytes]:
    """Return the writer of layouts, made when the first one is written."""
    from msgspec import msgpack

    return msgpack.Encoder().encode


@cache
def _decode() -> Callable[[bytes], tuple[bytes, list[int], bytes]]:
    """Return the reader of layouts, made when the first one is read."""
    from msgspec import msgpack

    return msgpack.Decoder(tuple[bytes, list[int], bytes]).decode


@define
class Piece:
    """A stretch of a file: ``value`` is a digest, the bytes of a gap, or empty for a hole."""

    kind: int
    offset: int
    length: int
    value: bytes


class Layout:
    """Collects the pieces of one segment, in file order."""

    __slots__ = ("digests", "gaps", "kinds", "lengths")

    def __init__(self) -> None:
        self.kinds = bytearray()
        self.lengths: list[int] = []
        self.gaps: list[bytes] = []
        self.digests: list[bytes] = []

    def encode(self, compressor: Compressor) -> tuple[bytes, bytes]:
        """Return the layout's two columns: kinds, lengths and gaps; digests."""
        plain = _encode()((bytes(self.kinds), self.lengths, b"".join(self.gaps)))
        digests = b"".join(self.digests)
        if len(plain) <= _PLAIN_LIMIT:
            return b"\0" + plain, digests
        return b"\1" + len(plain).to_bytes(8, "little") + compressor.compress(plain), digests


class Segment:
    """A decoded segment. Raises ``ValueError`` when it does not add up."""

    __slots__ = ("_ends", "_starts", "_values", "kinds", "length", "offset")

    def __init__(self, offset: int, length: int, layout: bytes, digests: bytes) -> None:
        kinds, lengths, gaps = _read_layout(layout)
        self.offset = offset
        self.length = length
        self.kinds = kinds
        self._starts = list(accumulate(lengths, initial=offset))
        self._ends = self._starts[1:]
        self._values = _values(kinds, lengths, gaps, digests)
        if len(kinds) != len(lengths) or self._starts[-1] != offset + length:
            raise ValueError("the manifest does not add up")

    def pieces(self, start: int = 0, stop: int | None = None) -> Iterator[Piece]:
        """Yield the pieces that touch file bytes ``start`` to ``stop``."""
        index = bisect_right(self._ends, start)
        limit = self.offset + self.length if stop is None else stop
        while index < len(self.kinds) and self._starts[index] < limit:
            begin = self._starts[index]
            yield Piece(self.kinds[index], begin, self._ends[index] - begin, self._values[index])
            index += 1


def _read_layout(layout: bytes) -> tuple[bytes, list[int], bytes]:
    from msgspec import MsgspecError

    from fabula.storage.packs_codec import decompress

    if layout == SHARED:
        raise ValueError("a part of the manifest is missing")
    try:
        plain = layout[1:] if layout[:1] == b"\0" else decompress(layout[9:], int.from_bytes(layout[1:9], "little"))
        return _decode()(plain)
    except MsgspecError as error:
        raise ValueError(f"the manifest is damaged: {error}") from error


def _values(kinds: bytes, lengths: list[int], gaps: bytes, digests: bytes) -> list[bytes]:
    values: list[bytes] = []
    gap = digest = 0
    for kind, length in zip(kinds, lengths, strict=True):
        if kind == GAP:
            values.append(gaps[gap : gap + length])
            gap += length
        elif kind in IN_PACK:
            values.append(digests[digest : digest + DIGEST_BYTES])
            digest += DIGEST_BYTES
        else:
            values.append(b"")
    if gap != len(gaps) or digest != len(digests):
        raise ValueError("the manifest does not add up")
    return values
