"""Writing packs anew without the records that the index no longer names.

A pack is never changed: its records go over into a new pack with a number of its own, one transaction lets the index
point there, then the old file is removed. A crash before the transaction leaves a pack without a length, after it an
old pack without one: the next writer removes either.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from fabula.kernel.values import define, field
from fabula.record.vault.folder import PACKS, pack_name, packs_on_disk
from fabula.record.vault.journal import journal_errors
from fabula.record.vault.schema import CLOSED, OPEN
from fabula.storage.files import disk_errors, ensure_folder, sync_folder
from fabula.storage.packs import PackReader, PackWriter
from fabula.storage.packs_codec import Compressor
from fabula.storage.packs_format import PackClass

if TYPE_CHECKING:
    from pathlib import Path

    from fabula.record.vault.journal import Journal

_DEAD = """
select f.pack_id from frames f
 left join (select frame_id, count(*) as named from blobs group by frame_id) b on b.frame_id = f.id
 where f.records > coalesce(b.named, 0) group by f.pack_id order by f.pack_id
"""
_NAMED = "select b.frame_id, b.digest, b.start from blobs b join frames f on f.id = b.frame_id where f.pack_id=?"


@define
class Swept:
    """What a sweep did: packs written anew or removed, records and bytes that went."""

    packs: int = 0
    records: int = 0
    freed: int = 0  # bytes on disk
    unreadable: list[str] = field(default_factory=list)  # frames that could not be read, left out


@define
class _Renewed:
    """A new pack as the index will name it."""

    id: int = 0
    length: int = 0
    frames: list[tuple[int, int, int, int, int, int, int]] = field(default_factory=list)
    blobs: list[tuple[bytes, int, int]] = field(default_factory=list)
    left_out: int = 0  # records
    unreadable: list[str] = field(default_factory=list)


def packs_with_dead(journal: Journal) -> list[int]:
    """Return the packs that hold records which the index does not name."""
    return [int(row[0]) for row in journal.rows(_DEAD)]


def sweep(folder: Path, journal: Journal, *, keep_damaged: bool = False) -> Swept:
    """Write every such pack anew. The caller holds the vault's lock.

    A frame that cannot be read is left out: what must go may lie in it. With ``keep_damaged`` its pack is left alone.
    Raises ``ERR_DISK``, ``ERR_DATABASE``.
    """
    swept = Swept()
    _remove_nameless(folder, journal)
    for pack_id in packs_with_dead(journal):
        _renew(folder, journal, pack_id, swept, keep_damaged=keep_damaged)
    return swept


def _remove_nameless(folder: Path, journal: Journal) -> None:
    """Remove packs without a length: begun and not committed, or replaced and not removed yet."""
    with disk_errors(folder):
        for pack_id, pack_class in journal.rows("select id, class from packs where length=0"):
            (folder / PACKS / pack_name(pack_id, pack_class)).unlink(missing_ok=True)
    with journal_errors(journal.path), journal.connection as db:
        db.execute("delete from packs where length=0")


def _renew(folder: Path, journal: Journal, pack_id: int, swept: Swept, *, keep_damaged: bool) -> None:
    pack_class, length = journal.rows("select class, length from packs where id=?", (pack_id,))[0]
    old = folder / PACKS / pack_name(pack_id, pack_class)
    new = _write_survivors(folder, journal, old, pack_id, PackClass(pack_class))
    swept.unreadable += new.unreadable
    if new.unreadable and keep_damaged:
        _remove_nameless(folder, journal)
        return
    with journal_errors(journal.path), journal.connection as db:
        db.execute("delete from blobs where frame_id in (select id from frames where pack_id=?)", (pack_id,))
        db.execute("delete from frames where pack_id=?", (pack_id,))
        db.execute("update packs set length=0, closed=? where id=?", (OPEN, pack_id))
        if new.length:
            db.execute("insert or replace into packs values(?,?,?,?)", (new.id, pack_class, new.length, CLOSED))
            db.executemany("insert into frames values(?,?,?,?,?,?,?)", new.frames)
            db.executemany("insert or replace into blobs values(?,?,?)", new.blobs)
    with disk_errors(old):
        old.unlink(missing_ok=True)
        sync_folder(old.parent)
    with journal_errors(journal.path), journal.connection as db:
        db.execute("delete from packs where id=?", (pack_id,))
    swept.packs += 1
    swept.records += new.left_out
    swept.freed += length - new.length


def _write_survivors(folder: Path, journal: Journal, old: Path, pack_id: int, pack_class: PackClass) -> _Renewed:
    """Write the records of a pack that the index names into a new pack, synced; no pack when there are none.

    Numbers are never given twice (a backup knows packs by them): the last pack is followed by an empty one.
    """
    new = _Renewed()
    rows = journal.rows("select id, offset, length, records from frames where pack_id=? order by offset", (pack_id,))
    named: dict[int, set[tuple[bytes, int]]] = {}
    for frame_id, digest, start in journal.rows(_NAMED, (pack_id,)):
        named.setdefault(frame_id, set()).add((digest, start))
    needed = bool(named) or pack_id >= max(journal.last_id("packs"), *packs_on_disk(folder))
    writer = _begin(folder, journal, new, pack_class) if needed else None
    reader: PackReader | None = None
    try:
        with suppress(OSError):
            reader = PackReader(old)
        for frame_id, offset, length, records in rows:
            try:
                table, content = _survivors(reader, offset, length, named.get(frame_id, set()))
            except (ValueError, OSError) as error:
                new.unreadable.append(f"{old.name} at byte {offset}: {error}")
                continue
            new.left_out += records - len(table)
            if writer is not None and table:
                _append(journal, writer, new, table, content)
        if writer is not None:
            writer.finish()
            writer.sync()
            new.length = writer.length
            with disk_errors(old):
                sync_folder(old.parent)
    finally:
        if writer is not None:
            writer.close()
        if reader is not None:
            reader.close()
    return new


def _append(
    journal: Journal, writer: PackWriter, new: _Renewed, table: list[tuple[bytes, int]], content: bytes
) -> None:
    frame_id = new.frames[-1][0] + 1 if new.frames else journal.last_id("frames") + 1
    place = writer.append(table, content)
    new.frames.append((frame_id, new.id, place.offset, place.length, place.records, place.crc, len(content)))
    start = 0
    for digest, size in table:
        new.blobs.append((digest, frame_id, start))
        start += size


def _survivors(
    reader: PackReader | None, offset: int, length: int, named: set[tuple[bytes, int]]
) -> tuple[list[tuple[bytes, int]], bytes]:
    """Return the records of a frame that the index names: their table and their bytes."""
    if reader is None:
        raise ValueError("the pack cannot be opened")
    if not named:
        return [], b""
    frame = reader.frame(offset, length)
    table, parts, start = [], [], 0
    for digest, size in frame.table:
        if (digest, start) in named:
            table.append((digest, size))
            parts.append(frame.content[start : start + size])
        start += size
    return table, b"".join(parts)


def _begin(folder: Path, journal: Journal, new: _Renewed, pack_class: PackClass) -> PackWriter:
    """Begin a pack: named in the journal before it exists, as every pack is."""
    ensure_folder(folder / PACKS)
    owner, _ = journal.identity()
    new.id = max(journal.last_id("packs"), *packs_on_disk(folder), 0) + 1
    with journal_errors(journal.path), journal.connection as db:
        db.execute("insert into packs values(?,?,0,?)", (new.id, int(pack_class), OPEN))
    path = folder / PACKS / pack_name(new.id, pack_class)
    return PackWriter.create(path, pack_class, owner, Compressor())
