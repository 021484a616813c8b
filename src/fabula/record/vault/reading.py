"""Reading sealed bytes back: every record is checked against its digest, every time."""

from __future__ import annotations

from collections import OrderedDict
from hashlib import sha256
from typing import TYPE_CHECKING

from fabula.kernel.errors import FabulaError
from fabula.kernel.hashes import digest_text
from fabula.record.vault import manifest
from fabula.record.vault.folder import PACKS, pack_name

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from fabula.record.vault.journal import Journal, Place
    from fabula.storage.packs import PackReader

_FRAMES_KEPT = 8
_FRAME_KEPT_LIMIT = 1 << 20  # a larger frame holds one record: keeping it helps nobody
_PACKS_KEPT = 16
_SEGMENTS_KEPT = 16  # of a generation, of as many generations
_STREAM_PIECE = 1 << 20


def damaged(message: str) -> FabulaError:
    """Return the error of bytes that are not what was sealed."""
    return FabulaError("ERR_VAULT_DAMAGED", message, "fabula record verify")


class Reading:
    """The reading side of a vault. Never writes."""

    def __init__(self, folder: Path, journal: Journal) -> None:
        self._folder = folder / PACKS
        self._journal = journal
        self._packs: OrderedDict[int, PackReader] = OrderedDict()
        self._frames: OrderedDict[int, bytes] = OrderedDict()
        self._segments: OrderedDict[int, list[manifest.Segment]] = OrderedDict()
        self._segments_version = -1

    # -- spans ---------------------------------------------------------------------------------------------------

    def read(self, generation_id: int, offset: int, length: int) -> bytes:
        """Return sealed bytes. Raises ``ERR_NOT_FOUND``, ``ERR_VAULT_DAMAGED``."""
        sealed, tail = self._extent(generation_id)
        if offset < 0 or length < 0 or offset + length > sealed + tail:
            raise FabulaError("ERR_NOT_FOUND", f"generation {generation_id} has no bytes {offset}+{length} sealed")
        parts = []
        position, stop = offset, min(offset + length, sealed)
        while position < stop:
            segment = self._segment(generation_id, position)
            for piece in segment.pieces(position, stop):
                value = self._value(piece)
                parts.append(value[max(position - piece.offset, 0) : stop - piece.offset])
            position = segment.offset + segment.length
        if offset + length > sealed:
            kept = self._tail(generation_id)
            parts.append(kept[max(offset - sealed, 0) : offset + length - sealed])
        return b"".join(parts)

    def digest(self, generation_id: int, offset: int, length: int) -> bytes | None:
        """Return the digest of exactly this record, or ``None`` when it was not sealed as one."""
        extent = self._journal.extent(generation_id)
        if extent is None or not 0 <= offset < offset + length <= extent[0]:
            return None
        piece = next(self._segment(generation_id, offset).pieces(offset))
        exact = piece.kind == manifest.RECORD and (piece.offset, piece.length) == (offset, length)
        return piece.value if exact else None

    def stream(self, generation_id: int, start: int = 0, fill: bytes | None = None) -> Iterator[bytes]:
        """Yield a generation from byte ``start`` to its end, tail included, in pieces of about 1 MB.

        ``fill``, one byte, stands for each byte that was forgotten.
        """
        sealed, _ = self._extent(generation_id)
        position = start
        while position < sealed:
            segment = self._segment(generation_id, position)
            yield from self._stream_segment(segment, position, fill)
            position = segment.offset + segment.length
        tail = self._tail(generation_id)[max(start - sealed, 0) :]
        if tail:
            yield tail

    def holes(self, generation_id: int) -> list[tuple[int, int]]:
        """Return the spans (offset, length) of a generation that were forgotten; holes that touch are one."""
        sealed, _ = self._extent(generation_id)
        found: list[tuple[int, int]] = []
        position = 0
        while position < sealed:
            segment = self._segment(generation_id, position)
            for piece in segment.pieces():
                if piece.kind != manifest.HOLE:
                    continue
                if found and sum(found[-1]) == piece.offset:
                    found[-1] = (found[-1][0], found[-1][1] + piece.length)
                else:
                    found.append((piece.offset, piece.length))
            position = segment.offset + segment.length
        return found

    def _stream_segment(self, segment: manifest.Segment, start: int, fill: bytes | None) -> Iterator[bytes]:
        pieces = list(segment.pieces(start))
        places = self._journal.places([piece.value for piece in pieces if piece.kind in manifest.IN_PACK])
        parts: list[bytes] = []
        size = 0
        for piece in pieces:
            hollow = fill is not None and piece.kind == manifest.HOLE
            value = fill * piece.length if hollow and fill else self._value(piece, places.get(piece.value))
            value = value[start - piece.offset :] if piece.offset < start else value
            parts.append(value)
            size += len(value)
            if size >= _STREAM_PIECE:
                yield b"".join(parts)
                parts, size = [], 0
        yield b"".join(parts)

    # -- parts ---------------------------------------------------------------------------------------------------

    def _extent(self, generation_id: int) -> tuple[int, int]:
        extent = self._journal.extent(generation_id)
        if extent is None:
            raise FabulaError("ERR_NOT_FOUND", f"the vault has no generation {generation_id}")
        return extent

    def _tail(self, generation_id: int) -> bytes:
        row = self._journal.generation(generation_id)
        return row.tail if row else b""

    def _segment(self, generation_id: int, offset: int) -> manifest.Segment:
        """Return the segment with the byte at ``offset``; the last ones stay decoded until the journal changes."""
        version = self._journal.data_version()
        if version != self._segments_version:
            self._segments.clear()
            self._segments_version = version
        for segment in reversed(self._segments.get(generation_id, ())):
            if segment.offset <= offset < segment.offset + segment.length:
                return segment
        segment = self._read_segment(generation_id, offset)
        kept = self._segments.setdefault(generation_id, [])
        kept.append(segment)
        if len(kept) > _SEGMENTS_KEPT:
            kept.pop(0)
        if len(self._segments) > _SEGMENTS_KEPT:
            self._segments.popitem(last=False)
        return segment

    def _read_segment(self, generation_id: int, offset: int) -> manifest.Segment:
        row = self._journal.segment_before(generation_id, offset)
        if row is None or row[0] + row[1] <= offset:
            raise damaged(f"the manifest of generation {generation_id} has nothing at byte {offset}")
        try:
            return manifest.Segment(*row)
        except ValueError as error:
            raise damaged(f"the manifest of generation {generation_id} at byte {row[0]}: {error}") from error

    def _value(self, piece: manifest.Piece, place: Place | None = None) -> bytes:
        if piece.kind == manifest.GAP:
            return piece.value
        if piece.kind == manifest.HOLE:
            raise FabulaError("ERR_FORGOTTEN", f"{piece.length} bytes at {piece.offset} were forgotten on purpose")
        return self.record(piece.value, piece.length, place)

    def record(self, digest: bytes, length: int, place: Place | None = None) -> bytes:
        """Return a record by its digest. Raises ``ERR_VAULT_DAMAGED``.

        Another process may just have written its pack anew (see ``sweeping``): then it is looked up once more.
        """
        try:
            return self._record(digest, length, place)
        except FabulaError:
            now = self._journal.places([digest]).get(digest)
            if now is None:
                raise
            self._frames.clear()
            return self._record(digest, length, now)

    def _record(self, digest: bytes, length: int, place: Place | None) -> bytes:
        place = place or self._journal.places([digest]).get(digest)
        record = self._frame(place)[place.start :][:length] if place else self._journal.loose(digest)
        if record is None:
            raise damaged(f"the vault has lost the record {digest_text(digest)}")
        if sha256(record).digest() != digest:
            where = f"{pack_name(place.pack_id, place.pack_class)} at byte {place.offset}" if place else "the journal"
            raise damaged(f"the record {digest_text(digest)} in {where} does not match its digest")
        return record

    def _frame(self, place: Place) -> bytes:
        content = self._frames.get(place.frame_id)
        if content is not None:
            self._frames.move_to_end(place.frame_id)
            return content
        name = pack_name(place.pack_id, place.pack_class)
        try:
            content = self._pack(place.pack_id, name).frame(place.offset, place.length).content
        except (ValueError, OSError) as error:
            raise damaged(f"{name}, the frame at byte {place.offset}: {error}") from error
        if len(content) <= _FRAME_KEPT_LIMIT:
            self._frames[place.frame_id] = content
            if len(self._frames) > _FRAMES_KEPT:
                self._frames.popitem(last=False)
        return content

    def _pack(self, pack_id: int, name: str) -> PackReader:
        pack = self._packs.get(pack_id)
        if pack is None:
            from fabula.storage.packs import PackReader

            pack = self._packs[pack_id] = PackReader(self._folder / name)
            if len(self._packs) > _PACKS_KEPT:
                self._packs.popitem(last=False)[1].close()
        return pack

    def close(self) -> None:
        """Close the packs."""
        for pack in self._packs.values():
            pack.close()
        self._packs.clear()
