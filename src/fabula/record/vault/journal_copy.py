"""The journal's copy: a log of every change of its rows of truth, in a pack of its own beside the others.

Should ``journal.db`` be lost altogether, the log gives back which records made up which file, and what people and
agents added. It grows by one frame with each transaction, before that is committed, and is written anew when it has
become much longer than what it says. The journal's ``meta`` names the log and its valid length, so the two agree: bytes
beyond that length were never committed, and a log of another name is of no use while the journal is there.
"""

from __future__ import annotations

import os
import struct
from functools import cache
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from fabula.record.vault.changes import COLUMNS, PUT
from fabula.record.vault.folder import PACKS, copies_on_disk, copy_name
from fabula.record.vault.marks import mark

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    import apsw

    from fabula.record.vault.changes import Change

META = "copy"
WHOLE = "whole"  # ends the snapshot with which a log begins
_STATE = struct.Struct("<IQQ")  # number of the log, its valid length, its length when it was begun
_SLACK = 256 << 10  # bytes by which a log may outgrow one and a half times its beginning
_LEVEL = 1  # most of it are digests: a higher level gains nothing
_ROWS_PER_FRAME = 4096
_FRAME_BYTES = 1 << 20


@cache
def encoder() -> Callable[[Any], bytes]:
    """Return the writer of changes."""
    from msgspec import msgpack

    return msgpack.Encoder().encode


def record(db: apsw.Connection, folder: Path, changes: Sequence[Change]) -> None:
    """Write what a transaction changes into the log; called inside of it, after its rows were written.

    Raises ``ERR_DISK``, ``ERR_READ_ONLY``.
    """
    number, length, begun = _state(db)
    path = folder / PACKS / copy_name(number)
    if not number or not _holds(path, length) or length > begun * 3 // 2 + _SLACK:
        renew(db, folder)
        return
    from fabula.storage.packs import PackWriter
    from fabula.storage.packs_codec import Compressor

    log = PackWriter(path, length, [], Compressor(_LEVEL))
    try:
        _append(log, changes)
        log.sync()
    finally:
        log.close()
    _note(db, number, log.length, begun)


def renew(db: apsw.Connection, folder: Path) -> None:
    """Write the log anew from what the journal holds now; called inside a transaction. Raises ``ERR_DISK``."""
    owner = db.execute("select value from meta where key='owner'").fetchone()
    if owner is None:
        return  # a vault that never held anything
    from fabula.storage.files import disk_errors, ensure_folder, sync_folder
    from fabula.storage.packs import PackWriter
    from fabula.storage.packs_codec import Compressor
    from fabula.storage.packs_format import PackClass

    packs = folder / PACKS
    ensure_folder(packs)
    old = copies_on_disk(folder)
    number = max(_state(db)[0], *old, 0) + 1
    log = PackWriter.create(packs / copy_name(number), PackClass.JOURNAL, owner[0], Compressor(_LEVEL))
    try:
        for changes in _snapshot(db):
            _append(log, changes)
        log.sync()
    finally:
        log.close()
    with disk_errors(packs):
        sync_folder(packs)
        for name in old.values():
            (packs / name).unlink(missing_ok=True)
    _note(db, number, log.length, log.length)


def drop(db: apsw.Connection, folder: Path) -> None:
    """Remove the log, before something is erased that it repeats. The next transaction begins a new one."""
    from fabula.storage.files import disk_errors, sync_folder

    forget(db)
    packs = folder / PACKS
    with disk_errors(packs):
        for name in copies_on_disk(folder).values():
            (packs / name).unlink(missing_ok=True)
        if packs.is_dir():
            sync_folder(packs)


def is_too_long(db: apsw.Connection, folder: Path) -> bool:
    """Say whether the log holds what was not committed, or not yet."""
    number, length, _ = _state(db)
    try:
        return bool(number) and (folder / PACKS / copy_name(number)).stat().st_size > length
    except OSError:
        return False


def cut(db: apsw.Connection, folder: Path) -> None:
    """Cut what was written into the log and never committed; the caller holds SQLite's write lock. Raises ``ERR_DISK``.

    Called before packs are cut: a log must never speak of records that are gone.
    """
    from fabula.storage.files import disk_errors

    number, length, _ = _state(db)
    path = folder / PACKS / copy_name(number)
    if is_too_long(db, folder):
        with disk_errors(path):
            os.truncate(path, length)


def forget(db: apsw.Connection) -> None:
    """Note that the log no longer says what the journal says."""
    db.execute("delete from meta where key=?", (META,))


def end(db: apsw.Connection, folder: Path) -> None:
    """Note that there is no log; the next one gets a number that none had: a backup knows logs by their numbers."""
    _note(db, max(_state(db)[0], *copies_on_disk(folder), 0, 0), 0, 0)


def _snapshot(db: apsw.Connection) -> Iterator[list[Change]]:
    """Yield the journal's rows of truth as changes, so many that each list makes a frame of moderate size."""
    for table, columns in COLUMNS.items():
        where = f" where key<>'{META}'" if table == "meta" else " order by id" if table == "loose" else ""
        rows, size = [], 0
        for row in db.execute(f"select {', '.join(columns)} from {table}{where}"):
            rows.append(row)
            size += sum(len(value) for value in row if isinstance(value, bytes | str))
            if len(rows) >= _ROWS_PER_FRAME or size >= _FRAME_BYTES:
                yield [(PUT, table, rows)]
                rows, size = [], 0
        if rows:
            yield [(PUT, table, rows)]
    yield [(WHOLE, "", [])]


def _append(log: Any, changes: Sequence[Change]) -> None:
    content = encoder()(changes)
    log.append([(sha256(content).digest(), len(content))], content)


def _state(db: apsw.Connection) -> tuple[int, int, int]:
    row = db.execute("select value from meta where key=?", (META,)).fetchone()
    return state_of(row[0] if row else None)


def state_of(value: bytes | None) -> tuple[int, int, int]:
    """Return a log's number, valid length and length at its beginning, from its row of ``meta``; zeros without one."""
    return _STATE.unpack(value) if isinstance(value, bytes) and len(value) == _STATE.size else (0, 0, 0)


def _note(db: apsw.Connection, *state: int) -> None:
    value = _STATE.pack(*state)
    db.execute("insert or replace into meta values(?,?,?)", (META, value, mark(META, value)))


def _holds(path: Path, length: int) -> bool:
    try:
        return path.stat().st_size >= length
    except OSError:
        return False
