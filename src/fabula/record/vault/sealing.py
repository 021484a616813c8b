"""Sealing: cut the bytes of a source into records and gaps, store what is new, describe it in a manifest."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

from fabula.record.vault import manifest
from fabula.record.vault.journal_shared import SHARED, SHARED_FROM, shared
from fabula.record.vault.tombstones import BYTES
from fabula.record.vault.values import TAIL_WINDOW
from fabula.storage.packs_codec import Compressor

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from fabula.record.vault.filling import Filling
    from fabula.record.vault.journal import Batch, GenerationRow
    from fabula.record.vault.tombstones import Tombstones

_ASKED_AT_ONCE = 1024  # records of which it is asked whether they are stored
GAP_INLINE = 512  # longer gaps go to packs
Stretch = tuple[int, int, int]  # kind of piece, begin and end within the data


def stretches(size: int, skip: int, offset: int, spans: Sequence[tuple[int, int]]) -> Iterator[Stretch]:
    """Cut ``data[skip:size]`` into records and gaps, in order.

    ``data`` lies at ``offset`` of its file; ``spans`` are (file offset, length).

    A span that begins before ``skip``, or inside the span before it, cannot be a record any more: its rest is gap.
    """
    position = skip
    for span, length in spans:
        begin = span - offset
        end = begin + length
        if begin < position or not length:
            continue
        if begin > position:
            yield from _gap(position, begin)
        yield manifest.RECORD, begin, end
        position = end
    if position < size:
        yield from _gap(position, size)


def _gap(begin: int, end: int) -> Iterator[Stretch]:
    yield (manifest.GAP if end - begin <= GAP_INLINE else manifest.FAR_GAP), begin, end


def with_holes(
    cut: Iterable[Stretch], data: bytes, offset: int, holes: frozenset[int], tombstones: Tombstones | None
) -> Iterator[Stretch]:
    """Make holes of the stretches that begin at one of ``holes`` (bytes of the file), and of bytes once forgotten."""
    for kind, start, end in cut:
        gone = offset + start in holes or (
            tombstones is not None
            and kind in manifest.IN_PACK
            and tombstones.has(BYTES, sha256(data[start:end]).digest())
        )
        yield (manifest.HOLE if gone else kind), start, end


class Sealing:
    """Appends to generations. Gathers manifests in the batch, records in the packs."""

    def __init__(self, filling: Filling, batch: Batch, tombstones: Tombstones | None = None) -> None:
        self._tombstones = tombstones
        self._filling = filling
        self._batch = batch
        self._compressor = Compressor()
        self._windows: dict[int, bytes] = {}  # the last bytes sealed of generations that grew in this run

    def append(
        self,
        row: GenerationRow,
        offset: int,
        data: bytes,
        spans: Sequence[tuple[int, int]],
        window: bytes | None,
        holes: frozenset[int] = frozenset(),
    ) -> None:
        """Seal what ``data`` holds beyond the bytes sealed already; ``window`` are the last of those, if known."""
        skip = row.length - offset
        layout, begin = manifest.Layout(), skip
        wanted: list[tuple[bytes, bytes]] = []
        kinds, lengths, gaps, digests = layout.kinds, layout.lengths, layout.gaps, layout.digests
        end = skip
        cut = stretches(len(data), skip, offset, spans)
        if holes or self._tombstones is not None:
            cut = with_holes(cut, data, offset, holes, self._tombstones)
        for kind, start, end in cut:
            full = False
            kinds.append(kind)
            lengths.append(end - start)
            if kind == manifest.GAP:
                gaps.append(data[start:end])
            elif kind != manifest.HOLE:
                record = data[start:end]
                digest = sha256(record).digest()
                digests.append(digest)
                wanted.append((digest, record))
                full = not digest[0] & manifest.ENDS_MASK and len(kinds) >= SHARED_FROM
            if full or len(kinds) >= manifest.PIECES_PER_SEGMENT:
                self._segment(row.id, offset + begin, end - begin, layout)
                if len(wanted) >= _ASKED_AT_ONCE:
                    self._store(wanted)
                    wanted = []
                layout, begin = manifest.Layout(), end
                kinds, lengths, gaps, digests = layout.kinds, layout.lengths, layout.gaps, layout.digests
        self._store(wanted)
        if kinds:
            self._segment(row.id, offset + begin, end - begin, layout)
        grown = len(data) - skip
        self._grow(row, data[-min(grown, TAIL_WINDOW) :], grown, window)

    def _store(self, wanted: list[tuple[bytes, bytes]]) -> None:
        unknown = self._filling.unknown([digest for digest, _ in wanted])
        for digest, record in wanted if unknown else ():
            if digest in unknown:
                unknown.remove(digest)
                self._filling.add(digest, record)

    def _segment(self, generation_id: int, offset: int, length: int, layout: manifest.Layout) -> None:
        columns = layout.encode(self._compressor)
        if len(layout.kinds) >= SHARED_FROM:
            row = shared(*columns)
            self._batch.shared[row[0]] = row
            columns = SHARED, row[0]
        self._batch.segments.append((generation_id, offset, length, *columns))

    def _grow(self, row: GenerationRow, last: bytes, grown: int, window: bytes | None) -> None:
        row.length += grown
        row.tail = row.tail[grown:]
        if window is None and grown < TAIL_WINDOW:
            row.tail_digest = None
        else:
            self._windows[row.id] = ((window or b"") + last)[-TAIL_WINDOW:]
            row.tail_digest = sha256(self._windows[row.id]).digest()

    def window(self, generation_id: int) -> bytes | None:
        """Return the last bytes sealed of a generation, if it grew in this run."""
        return self._windows.get(generation_id)

    def committed(self) -> None:
        """Forget the windows: what is committed can be read."""
        self._windows.clear()
