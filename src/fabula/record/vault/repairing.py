"""Repairing: a new journal from what can be read of the old one and from the packs.

The index of records (``packs``, ``frames``, ``blobs``) is made anew from the packs themselves. Rows of truth come from
the old journal where their marks are right, then from its copy (see ``journal_copy``), then from the old journal as
they are, damaged marks included, so that nothing is declared sound that is not. The old journal is kept beside.
"""

from __future__ import annotations

import shutil
from contextlib import suppress
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import apsw

from fabula.kernel.errors import FabulaError
from fabula.kernel.values import define, field
from fabula.record.vault import journal_copy
from fabula.record.vault.changes import COLUMNS, KEEP, statement
from fabula.record.vault.folder import JOURNAL, PACKS, packs_on_disk
from fabula.record.vault.journal import marked
from fabula.record.vault.journal_replay import replay
from fabula.record.vault.marks import mark
from fabula.record.vault.schema import ADDED, APPLICATION_ID, CLOSED, ENDED, SCHEMA, VERSION
from fabula.storage.database import connect, database_errors, open_database
from fabula.storage.files import PRIVATE_FILE, disk_errors, sync_folder
from fabula.storage.packs import PackReader

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from fabula.storage.packs import Frame

KEPT = "journal.damaged.db"
_NEW = "journal.new.db"
_UNREADABLE = (apsw.CorruptError, apsw.NotADBError, apsw.SQLError, apsw.IOError, UnicodeDecodeError)


@define
class Rebuilt:
    """What a new journal was made of."""

    packs: int = 0
    records: int = 0
    problems: list[str] = field(default_factory=list)  # what could not be read


def rebuild(folder: Path) -> Rebuilt:
    """Replace the journal of the vault in ``folder``; the caller holds the vault's lock.

    A crash on the way leaves the old journal. Raises ``ERR_LOCKED`` while others read it, ``ERR_DISK``.
    """
    rebuilt = Rebuilt()
    old, new = folder / JOURNAL, folder / _NEW
    _remove(new)
    if not old.exists():
        _remove_log(old)  # a log without its database would be applied to the new one
    target = open_database(new, schema=SCHEMA + ADDED, version=VERSION, application=APPLICATION_ID, durable=True)
    try:
        with database_errors(new), target:
            _gather_truth(folder, target, rebuilt)
            _index_packs(folder, target, rebuilt)
            journal_copy.renew(target, folder)
        target.execute("pragma wal_checkpoint(truncate)")
    finally:
        target.close()
    with disk_errors(folder):
        if old.exists():
            shutil.copyfile(old, folder / KEPT)
            (folder / KEPT).chmod(PRIVATE_FILE)
            _remove_log(old)
        new.replace(old)
        sync_folder(folder)
    return rebuilt


def _remove(path: Path) -> None:
    path.unlink(missing_ok=True)
    _remove_log(path)


def _remove_log(path: Path) -> None:
    for suffix in ("-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)


# -- truth ---------------------------------------------------------------------------------------------------------


def _gather_truth(folder: Path, target: apsw.Connection, rebuilt: Rebuilt) -> None:
    old = folder / JOURNAL
    broken = _copy_truth(old, target, rebuilt) if old.exists() else []
    played = replay(folder, _named_copy(old) if old.exists() else None)
    if played is not None:
        rebuilt.problems.extend(f"{played.name}: {problem}" for problem in played.problems)
        for table, columns in COLUMNS.items():
            for row in played.db.execute(f"select {', '.join(columns)} from {table}"):
                _copy_row(table, row, target, rebuilt)
        played.db.close()
    if not old.exists():
        known = played is not None and played.whole
        rest = "its copy gives back all that was committed" if known else "which files the records made up is not known"
        rebuilt.problems.insert(0, f"{JOURNAL} is missing: {rest}")
    for table, row in broken:
        _copy_row(table, row, target, rebuilt)


def _named_copy(old: Path) -> tuple[int, int, int] | None:
    """Return which copy the old journal names, ``None`` when that cannot be read."""
    source = connect(old, apsw.SQLITE_OPEN_READONLY)
    try:
        row = source.execute("select value from meta where key=?", (journal_copy.META,)).fetchone()
        return journal_copy.state_of(row[0] if row else None)
    except _UNREADABLE:
        return None
    finally:
        source.close()


def _copy_truth(old: Path, target: apsw.Connection, rebuilt: Rebuilt) -> list[tuple[str, tuple[Any, ...]]]:
    """Copy what is sound; return the rows (and their tables) that are not as they were written."""
    broken = []
    source = connect(old, apsw.SQLITE_OPEN_READWRITE)
    try:
        _merge_log(source, old)
        for table, columns in COLUMNS.items():
            for row in _rows(source, table, columns, rebuilt):
                if table == "meta" and row[0] == journal_copy.META:
                    continue
                if _is_as_written(table, row):
                    _copy_row(table, row, target, rebuilt)
                else:
                    broken.append((table, row))
    finally:
        source.close()
    return broken


def _is_as_written(table: str, row: tuple[Any, ...]) -> bool:
    return _is_sound(*row) if table == "loose" else mark(*row[:-1]) == row[-1]


def _copy_row(table: str, row: tuple[Any, ...], target: apsw.Connection, rebuilt: Rebuilt) -> None:
    if table == "loose" and not _is_sound(*row):
        rebuilt.problems.append("loose: a record does not match its digest")
        return
    try:
        target.execute(statement(KEEP, table), row)
    except (apsw.ConstraintError, apsw.SQLError, UnicodeError) as error:
        rebuilt.problems.append(f"{table}: {error}")


def _is_sound(digest: object, _: object, data: object) -> bool:
    return isinstance(data, bytes) and sha256(data).digest() == digest


def _merge_log(source: apsw.Connection, old: Path) -> None:
    """Bring the write-ahead log into the file: left beside it, it would be applied to the new journal."""
    with suppress(*_UNREADABLE):
        busy = source.execute("pragma wal_checkpoint(truncate)").fetchone()
        if busy and busy[0]:
            raise FabulaError("ERR_LOCKED", f"{old}: other processes are reading", "end them, then repeat the command")


def _rows(source: apsw.Connection, table: str, columns: tuple[str, ...], rebuilt: Rebuilt) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of a table; behind a damaged page, go on from the table's other end."""
    query = f"select {', '.join(columns)} from {table} not indexed"
    order = " order by rowid" if table == "loose" else ""
    try:
        yield from source.execute(query + order)
    except _UNREADABLE as error:
        if table == "shared" and "no such table" in str(error):
            return  # a journal of the first form
        rebuilt.problems.append(f"{table}: {error}")
        with suppress(*_UNREADABLE):
            yield from source.execute(f"{query} order by {'rowid' if table == 'loose' else 1} desc")


# -- the index -----------------------------------------------------------------------------------------------------


def _index_packs(folder: Path, target: apsw.Connection, rebuilt: Rebuilt) -> None:
    found = target.execute("select value from meta where key='owner'").fetchone()
    frame_id = 0
    for pack_id, name in packs_on_disk(folder).items():
        pack = PackReader(folder / PACKS / name)
        try:
            pack_class, owner = pack.header()
            if found is None:
                found = (owner,)
                target.execute("insert into meta values(?,?,?)", marked(("owner", owner)))
            if owner != found[0]:
                rebuilt.problems.append(f"{name}: the pack belongs to another vault")
                continue
            end = pack.size()
            rebuilt.packs += 1
            sound = True
            for part in pack.walk(end):
                problem = part if isinstance(part, str) else _problem(part)
                if isinstance(part, str) or problem:
                    rebuilt.problems.append(f"{name}: {problem}")
                    sound = False
                    continue
                frame_id += 1
                _index_frame(target, frame_id, pack_id, part)
                rebuilt.records += len(part.table)
            closed = CLOSED if sound and _has_footer(pack, end) else ENDED
            target.execute("insert into packs values(?,?,?,?)", (pack_id, int(pack_class), end, closed))
        except (ValueError, OSError) as error:
            rebuilt.problems.append(f"{name}: {error}")
        finally:
            pack.close()


def _has_footer(pack: PackReader, end: int) -> bool:
    try:
        pack.footer(end)
    except ValueError:
        return False
    return True


def _problem(frame: Frame) -> str:
    """Say what is wrong with the records of a frame that decodes; empty when nothing is."""
    view, start = memoryview(frame.content), 0
    for digest, length in frame.table:
        if sha256(view[start : start + length]).digest() != digest:
            return f"at byte {frame.offset}: records do not match their digests"
        start += length
    return ""


def _index_frame(target: apsw.Connection, frame_id: int, pack_id: int, frame: Frame) -> None:
    target.execute(
        "insert into frames values(?,?,?,?,?,?,?)",
        (frame_id, pack_id, frame.offset, frame.length, len(frame.table), frame.crc, len(frame.content)),
    )
    start = 0
    rows = []
    for digest, length in frame.table:
        rows.append((digest, frame_id, start))
        start += length
    target.executemany("insert or ignore into blobs values(?,?,?)", rows)
