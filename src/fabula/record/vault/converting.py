"""Converting a vault: every pack and the journal are written anew, sealed under a key or not at all.

Packs are never changed, so the new ones get numbers of their own and lie beside the old ones; a new journal that names
them replaces the old one by a rename, which is **the commit point**; then the old packs go. ``converting.json`` says
what is going on, ``key.json`` is marked as that of a vault that is being converted. A crash before the rename leaves
the old vault and files that nothing names, a crash after it the new one and files that nothing names: :func:`settle`
removes either, and the next writer calls it.
"""

from __future__ import annotations

import json
import os
from contextlib import closing, suppress
from hashlib import sha256
from typing import TYPE_CHECKING

import apsw

from fabula.kernel.errors import FabulaError
from fabula.kernel.values import define, field
from fabula.record.scan.report import Silent
from fabula.record.vault import journal_copy
from fabula.record.vault.folder import CONVERTING, JOURNAL, PACKS, copies_on_disk, pack_name, packs_on_disk
from fabula.record.vault.journal import Journal
from fabula.record.vault.keys import write_key_file
from fabula.record.vault.schema import CLOSED, TRUTH_TABLES
from fabula.storage import keyring
from fabula.storage.database import BUSY_MILLISECONDS, connect, database_errors
from fabula.storage.files import disk_errors, sync_folder, write_atomic
from fabula.storage.packs import PackReader, PackWriter
from fabula.storage.packs_codec import Compressor
from fabula.storage.packs_format import PackClass

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path
    from typing import Any

    from fabula.record.scan.report import Progress
    from fabula.storage.cipher import Cipher

_NEW = "journal.converted.db"
_KEPT = ("journal.damaged.db", "journal.new.db")
_URI = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_URI


@define
class Converted:
    """What a conversion wrote anew."""

    packs: int = 0
    records: int = 0  # each compared with its digest before and after
    bytes: int = 0  # of the new packs


@define
class _New:
    """The new packs as the new journal will name them."""

    packs: list[tuple[int, int, int, int]] = field(default_factory=list)
    frames: list[tuple[int, int, int, int, int, int, int]] = field(default_factory=list)


def convert(
    folder: Path, cipher: Cipher | None, said: Mapping[str, Any], progress: Progress | None = None
) -> Converted:
    """Write the vault anew, sealed with ``cipher``, or not at all without one.

    The caller holds the vault's lock, no erasure is unfinished, and there is no map. ``said`` is what ``key.json`` says
    of the key that the vault has now or will have. Raises ``ERR_VAULT_DAMAGED``, ``ERR_LOCKED``, ``ERR_DISK``,
    ``ERR_READ_ONLY``, ``ERR_DATABASE``, ``ERR_CHANGED`` (it is what it should become): the vault is what it was then.
    """
    settle(folder)
    if keyring.is_sealed(folder / JOURNAL) == (cipher is not None):
        raise FabulaError("ERR_CHANGED", "the vault was converted meanwhile", "fabula vault key")
    journal = Journal.open(folder, read_only=False)
    try:
        with closing(journal.connection):
            journal.cut_copy()
            _begin(folder, journal, cipher, said)
            try:
                converted, new = _write_packs(folder, journal, cipher, progress or Silent())
                _replace_journal(folder, journal, cipher, new)
            except BaseException:
                with suppress(apsw.Error):
                    journal.connection.execute("rollback")
                settle(folder)
                raise
    finally:
        journal.close()
    settle(folder)
    _renew_copy(folder)
    return converted


def settle(folder: Path) -> None:
    """Finish or discard a conversion that did not come to its end. Raises ``ERR_DISK``, ``ERR_READ_ONLY``.

    The caller holds the vault's lock. Where the journal is lost both sets of packs stay, for a repair to read.
    """
    path = folder / CONVERTING
    try:
        note = json.loads(path.read_bytes())
    except FileNotFoundError:
        return
    said = keyring.read_key_file(folder)
    sealed = keyring.is_sealed(folder / JOURNAL)
    known = (folder / JOURNAL).exists()
    done = sealed == note["sealed"]
    stays_sealed = sealed or (not known and said is not None)
    with disk_errors(folder):
        _remove_database(folder / _NEW)
        for half in (*folder.glob(f".{keyring.KEY_FILE}.*.tmp"), *folder.glob(f".{CONVERTING}.*.tmp")):
            half.unlink(missing_ok=True)
        if known:
            new = {number for number in packs_on_disk(folder) if number >= note["first_pack"]}
            going = set(note["old_packs"]) if done else new
            for number, name in packs_on_disk(folder).items():
                if number in going:
                    (folder / PACKS / name).unlink(missing_ok=True)
        if known and done:
            for name in copies_on_disk(folder).values():
                (folder / PACKS / name).unlink(missing_ok=True)
            for name in _KEPT:
                _remove_database(folder / name)
        if said is not None and stays_sealed:
            write_key_file(folder, {name: value for name, value in said.items() if name != "converting"})
        else:
            (folder / keyring.KEY_FILE).unlink(missing_ok=True)
        if (folder / PACKS).is_dir():
            sync_folder(folder / PACKS)
        sync_folder(folder)
        path.unlink()
        sync_folder(folder)


def _begin(folder: Path, journal: Journal, cipher: Cipher | None, said: Mapping[str, Any]) -> None:
    old = [row[0] for row in journal.rows("select id from packs order by id")]
    first = max(*old, *packs_on_disk(folder), 0, 0) + 1
    note = {"format": 1, "sealed": cipher is not None, "first_pack": first, "old_packs": old}
    write_atomic(folder / CONVERTING, json.dumps(note).encode())
    write_key_file(folder, {**said, "converting": True})


# -- packs ---------------------------------------------------------------------------------------------------------


def _write_packs(folder: Path, journal: Journal, cipher: Cipher | None, progress: Progress) -> tuple[Converted, _New]:
    converted, new = Converted(), _New()
    packs = journal.rows("select id, class, length from packs where length>0 order by id")
    progress.start(len(packs), sum(row[2] for row in packs))
    next_id = max(*(row[0] for row in packs), *packs_on_disk(folder), 0, 0) + 1
    for number, (pack_id, pack_class, length) in enumerate(packs):
        _write_pack(folder, journal, (pack_id, PackClass(pack_class), next_id + number), cipher, new, converted)
        progress.advance(1, length)
    if packs:
        with disk_errors(folder / PACKS):
            sync_folder(folder / PACKS)
    progress.finish()
    return converted, new


def _write_pack(
    folder: Path, journal: Journal, pack: tuple[int, PackClass, int], cipher: Cipher | None, new: _New, done: Converted
) -> None:
    """Write one pack anew under a new number, then read it back: every record must match its digest, twice."""
    old_id, pack_class, new_id = pack
    owner, _ = journal.identity()
    path = folder / PACKS / pack_name(new_id, pack_class)
    rows = journal.rows("select id, offset, length, crc from frames where pack_id=? order by offset", (old_id,))
    old = _open(folder / PACKS / pack_name(old_id, pack_class))
    writer = PackWriter.create_with(path, pack_class, owner, Compressor(), cipher)
    try:
        for frame_id, offset, length, _ in rows:
            table, content = _checked(old, offset, length)
            place = writer.append(table, content)
            new.frames.append((frame_id, new_id, place.offset, place.length, place.records, place.crc, len(content)))
            done.records += place.records
        writer.finish()
        writer.sync()
    finally:
        writer.close()
        old.close()
    back = _open(path)
    try:
        for place in writer.places:
            _checked(back, place.offset, place.length, cipher)
    finally:
        back.close()
    new.packs.append((new_id, int(pack_class), writer.length, CLOSED))
    done.packs += 1
    done.bytes += writer.length


def _open(path: Path) -> PackReader:
    try:
        return PackReader(path)
    except OSError as error:
        raise _damaged(f"{path.name}: {error.strerror}") from error


def _checked(
    pack: PackReader, offset: int, length: int, cipher: Cipher | None = None
) -> tuple[list[tuple[bytes, int]], bytes]:
    """Return a frame's table and content, of which every record matches its digest. Raises ``ERR_VAULT_DAMAGED``."""
    try:
        frame = pack.frame_with(offset, length, cipher)
    except (ValueError, OSError) as error:
        raise _damaged(f"{pack.path.name}, the frame at byte {offset}: {error}") from error
    view, start = memoryview(frame.content), 0
    for digest, size in frame.table:
        if sha256(view[start : start + size]).digest() != digest:
            raise _damaged(f"{pack.path.name}, the frame at byte {offset}: records do not match their digests")
        start += size
    return frame.table, frame.content


def _damaged(message: str) -> FabulaError:
    return FabulaError("ERR_VAULT_DAMAGED", message, "fabula record verify --repair")


# -- the journal ---------------------------------------------------------------------------------------------------


def _replace_journal(folder: Path, journal: Journal, cipher: Cipher | None, new: _New) -> None:
    """Write the journal anew, naming the new packs, and put it in place of the old one.

    Titles and pins are written without the vault's lock: they wait meanwhile, and then find an old journal without
    tables, so that none is written where nobody reads it.
    """
    path, fresh = journal.path, folder / _NEW
    _remove_database(fresh)
    with database_errors(path):
        journal.connection.set_busy_timeout(BUSY_MILLISECONDS)
        busy = journal.connection.execute("pragma wal_checkpoint(truncate)").fetchone()
        if busy and busy[0]:
            raise FabulaError("ERR_LOCKED", f"{path}: other processes are reading", "end them, then repeat the command")
        journal.connection.execute("begin immediate")
        if (path.with_name(path.name + "-wal")).stat().st_size:
            raise FabulaError("ERR_LOCKED", f"{path}: another process was writing", "repeat the command")
    _write_journal(path, fresh, cipher, new)
    with disk_errors(folder):
        for suffix in ("-wal", "-shm"):
            path.with_name(path.name + suffix).unlink(missing_ok=True)
        os.replace(fresh, path)
        sync_folder(folder)
    with suppress(apsw.Error):  # of the old file, which has no name any more
        for table in TRUTH_TABLES:
            journal.connection.execute(f"drop table {table}")
        journal.connection.execute("commit")


def _write_journal(path: Path, fresh: Path, cipher: Cipher | None, new: _New) -> None:
    from urllib.parse import quote

    vfs = _vfs(cipher)
    with database_errors(fresh):
        with closing(connect(path, apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)) as source:
            source.execute("vacuum into ?", (f"file:{quote(os.fspath(fresh.absolute()))}?vfs={vfs}",))
        with closing(apsw.Connection(os.fspath(fresh), flags=_URI, vfs=vfs)) as target:
            target.execute("pragma temp_store=memory; pragma journal_mode=wal; pragma synchronous=full")
            with target:
                target.execute("delete from packs; delete from frames")
                target.executemany("insert into packs values(?,?,?,?)", new.packs)
                target.executemany("insert into frames values(?,?,?,?,?,?,?)", new.frames)
                journal_copy.end(target, path.parent)
            target.execute("pragma wal_checkpoint(truncate)")
    with disk_errors(fresh):
        fresh.chmod(0o600)
        with open(fresh, "r+b") as file:
            os.fsync(file.fileno())


def _vfs(cipher: Cipher | None) -> str:
    if cipher is None:
        return next(name for name in apsw.vfs_names() if not name.startswith("fabula-"))
    from fabula.storage.sealed_files import vfs_of

    return vfs_of(cipher)


def _remove_database(path: Path) -> None:
    for suffix in ("", "-wal", "-shm", "-journal"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)


def _renew_copy(folder: Path) -> None:
    journal = Journal.open(folder, read_only=False)
    try:
        with database_errors(journal.path), journal.connection as db:
            journal_copy.renew(db, folder)
    finally:
        journal.close()
