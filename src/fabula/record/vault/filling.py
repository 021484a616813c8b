"""Filling packs: distinct records are gathered into frames, frames appended to the open pack of their class."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from fabula.record.vault.folder import PACKS, pack_name, packs_on_disk
from fabula.record.vault.schema import CLOSED, ENDED, OPEN
from fabula.storage.files import disk_errors, ensure_folder, sync_folder
from fabula.storage.packs import PackWriter
from fabula.storage.packs_codec import Compressor
from fabula.storage.packs_format import FramePlace, PackClass

if TYPE_CHECKING:
    from pathlib import Path

    from fabula.record.vault.journal import Batch, Journal

FRAME_CONTENT = 256 << 10  # bytes of records in a frame, before compression
LOOSE_SHARE = 4  # a commit that leaves more than this part of a frame behind writes a frame of it
DIGESTS_REMEMBERED = 200_000  # of a vault that began empty: about 20 MB, in place of a question to the journal each
PACK_LIMIT = 32 << 20  # a pack that reached it is closed

_PICTURE_FLOOR = 32 << 10  # a smaller record may hold a picture, it is no dead weight
_PICTURE_SIGNS = (b'"base64"', b";base64,", b'"image/')


def pack_class_of(record: bytes) -> PackClass:
    """Say into which packs a record belongs."""
    if len(record) >= _PICTURE_FLOOR and any(sign in record for sign in _PICTURE_SIGNS):
        return PackClass.IMAGES
    return PackClass.RECORDS


class _Lane:
    """The frame that is being filled for one class, and the pack it will go to."""

    def __init__(self, pack_class: PackClass) -> None:
        self.pack_class = pack_class
        self.records: list[tuple[bytes, bytes]] = []
        self.size = 0
        self.committed = 0  # the first so many records are loose in the journal already
        self.pack_id = 0
        self.pack: PackWriter | None = None

    def add(self, digest: bytes, record: bytes) -> None:
        self.records.append((digest, record))
        self.size += len(record)


class Filling:
    """The writing side of a vault's packs. Changes are gathered in ``batch`` and durable when that is committed."""

    def __init__(self, folder: Path, journal: Journal, batch: Batch) -> None:
        """Take up the open packs where the journal says they end; what lies beyond is cut."""
        self._folder = folder / PACKS
        self._journal = journal
        self._owner, _ = journal.identity()
        self._batch = batch
        self._compressor = Compressor()
        self._lanes = {pack_class: _Lane(pack_class) for pack_class in (PackClass.RECORDS, PackClass.IMAGES)}
        self._next_frame = journal.last_id("frames") + 1
        self._all_recent = self._next_frame == 1  # the journal knows of no record that ``_recent`` does not hold
        self._next_pack = max(journal.last_id("packs"), *packs_on_disk(folder), 0) + 1
        self._recent: set[bytes] = set()  # at least what is in a frame being filled, or not committed
        self._dirty: list[PackWriter] = []  # written since the last commit
        self._new_files = False
        ensure_folder(self._folder)
        journal.cut_copy()
        self._drop_unborn()
        self._take_up()

    def _drop_unborn(self) -> None:
        """Remove packs that were begun and never committed to: a crash left them."""
        unborn = self._journal.rows("select id, class from packs where length=0")
        with disk_errors(self._folder):
            for pack_id, pack_class in unborn:
                (self._folder / pack_name(pack_id, pack_class)).unlink(missing_ok=True)
        if unborn:
            self._journal.change_index("delete from packs where id=?", [row[:1] for row in unborn])

    def _take_up(self) -> None:
        packs = self._journal.rows("select id, class, length from packs where closed=?", (OPEN,))
        for pack_id, pack_class, length in packs:
            lane = self._lanes[PackClass(pack_class)]
            rows = self._journal.rows(
                "select offset, length, records, crc from frames where pack_id=? order by offset", (pack_id,)
            )
            places = [FramePlace(*row) for row in rows]
            path = self._folder / pack_name(pack_id, pack_class)
            if not path.exists() or path.stat().st_size < length:
                # Bytes are lost (verify names them); writing on would put new records where the journal sees old ones.
                self._batch.packs[pack_id] = (pack_id, pack_class, length, ENDED)
                continue
            lane.pack_id, lane.pack = pack_id, PackWriter(path, length, places, self._compressor)
        for digest, pack_class, data in self._journal.rows("select digest, class, data from loose order by id"):
            self._lanes[PackClass(pack_class)].add(digest, data)
            self._recent.add(digest)
        for lane in self._lanes.values():
            lane.committed = len(lane.records)

    def unknown(self, digests: list[bytes]) -> set[bytes]:
        """Return those of the digests whose records are not stored yet."""
        fresh = set(digests) - self._recent
        return fresh - self._journal.known(list(fresh)) if fresh and not self._all_recent else fresh

    def add(self, digest: bytes, record: bytes) -> None:
        """Store a record that :meth:`unknown` named. Raises ``ERR_DISK``."""
        self._recent.add(digest)
        lane = self._lanes[PackClass.RECORDS if len(record) < _PICTURE_FLOOR else pack_class_of(record)]
        if len(record) >= FRAME_CONTENT:
            self._write_frame(lane, [(digest, len(record))], record)
            return
        lane.add(digest, record)
        if lane.size >= FRAME_CONTENT:
            self._flush(lane)

    def _flush(self, lane: _Lane) -> None:
        self._batch.packed.extend([digest for digest, _ in lane.records[: lane.committed]])
        table = [(digest, len(record)) for digest, record in lane.records]
        content = b"".join([record for _, record in lane.records])
        lane.records, lane.size, lane.committed = [], 0, 0
        self._write_frame(lane, table, content)

    def _write_frame(self, lane: _Lane, table: list[tuple[bytes, int]], content: bytes) -> None:
        pack = lane.pack or self._begin_pack(lane)
        place = pack.append(table, content)
        frame_id = self._next_frame
        self._next_frame += 1
        batch = self._batch
        batch.frames.append(
            (frame_id, lane.pack_id, place.offset, place.length, place.records, place.crc, len(content))
        )
        start = 0
        for digest, length in table:
            batch.blobs.append((digest, frame_id, start))
            start += length
        if pack not in self._dirty:
            self._dirty.append(pack)
        full = pack.length >= PACK_LIMIT
        if full:
            pack.finish()
            lane.pack = None
        batch.packs[lane.pack_id] = (lane.pack_id, int(lane.pack_class), pack.length, CLOSED if full else OPEN)

    def _begin_pack(self, lane: _Lane) -> PackWriter:
        lane.pack_id = self._next_pack
        self._next_pack += 1
        path = self._folder / pack_name(lane.pack_id, lane.pack_class)
        # Named before it exists: a pack that the journal does not know is never ours to remove.
        begun = (lane.pack_id, int(lane.pack_class), OPEN)
        self._journal.change_index("insert into packs values(?,?,0,?)", [begun])
        lane.pack = PackWriter.create(path, lane.pack_class, self._owner, self._compressor)
        self._new_files = True
        return lane.pack

    def sync(self) -> None:
        """Make the packs durable and hand what is left in unfilled frames to the batch. Raises ``ERR_DISK``.

        What is much for one commit makes a smaller frame: as loose records its bytes would be written twice more, into
        the journal and into its copy.
        """
        for lane in self._lanes.values():
            if sum(len(record) for _, record in lane.records[lane.committed :]) >= FRAME_CONTENT // LOOSE_SHARE:
                self._flush(lane)
        for pack in self._dirty:
            pack.sync()
        if self._new_files:
            with disk_errors(self._folder):
                sync_folder(self._folder)
        for lane in self._lanes.values():
            rows = [(digest, int(lane.pack_class), data) for digest, data in lane.records[lane.committed :]]
            self._batch.loose.extend(rows)

    def committed(self) -> None:
        """Take note that the batch is durable."""
        for pack in self._dirty:
            if all(pack is not lane.pack for lane in self._lanes.values()):
                pack.close()
        self._dirty, self._new_files = [], False
        self._all_recent = self._all_recent and len(self._recent) <= DIGESTS_REMEMBERED
        if not self._all_recent:
            self._recent.clear()
        for lane in self._lanes.values():
            lane.committed = len(lane.records)
            self._recent.update([digest for digest, _ in lane.records])

    def close(self) -> None:
        """Close the packs; what was never committed is cut."""
        rows = self._journal.rows("select id, class, length from packs")
        lengths = {pack_name(pack_id, pack_class): length for pack_id, pack_class, length in rows}
        writers = {id(pack): pack for pack in (*self._dirty, *(lane.pack for lane in self._lanes.values())) if pack}
        for pack in writers.values():
            with suppress(OSError):
                pack.close(keep=lengths[pack.path.name])
