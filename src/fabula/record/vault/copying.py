"""Copying a vault into a folder: a backup, or the beginning of a second machine.

The copy is laid out as a home is: ``FOLDER/vault`` with packs and journal. What it has is never written again: packs
grow at their ends and are read back, then the journal of the moment replaces the one before by a rename, which is the
commit point, then packs go that the journal names no more: what was erased from the vault is erased from the copy.
A crash anywhere leaves the copy as it was; bytes that were copied already count the next time.
"""

from __future__ import annotations

import os
from contextlib import closing, suppress
from typing import TYPE_CHECKING

from fabula.kernel.errors import FabulaError
from fabula.kernel.values import define, frozen
from fabula.record.scan.report import Silent
from fabula.record.vault.copy_marker import MARKER, Marker, journal_digest, read_marker, write_marker
from fabula.record.vault.copy_packs import Arrival, bring_log, bring_pack
from fabula.record.vault.folder import JOURNAL, LOCK, PACKS, copies_on_disk, copy_name, pack_name, packs_on_disk
from fabula.record.vault.journal_copy import META, state_of
from fabula.record.vault.schema import APPLICATION_ID, VERSION
from fabula.storage.database import database_errors, open_reader
from fabula.storage.files import PRIVATE_FILE, disk_errors, ensure_folder, sync_folder
from fabula.storage.keyring import KEY_FILE
from fabula.storage.locks import FileLock
from fabula.storage.packs_format import FramePlace

if TYPE_CHECKING:
    from pathlib import Path

    import apsw

    from fabula.kernel.clock import Clock
    from fabula.record.scan.report import Progress

_ATTEMPTS = 5  # an erasure may remove packs while they are copied: then the copy begins again from the new state
_NEW = "journal.copied.db"
VAULT = "vault"


@frozen
class CopyReport:
    """What a copy did. Sizes in bytes."""

    folder: str
    first: bool  # the folder was empty
    packs: int  # of the vault
    packs_touched: int  # new or grown
    bytes_copied: int
    records_checked: int  # read back from the copy and compared with their digests
    packs_removed: int  # that the vault has no more: what they held besides was erased there
    erasures: int  # marks of forgotten things that the copy did not have before
    generations: int  # that the copy holds now


@frozen
class _State:
    """What a journal says of its packs, and of itself."""

    owner: bytes
    packs: dict[int, tuple[int, int]]  # id -> class, valid length
    frames: dict[int, list[FramePlace]]
    log: tuple[int, int]  # number and valid length of the journal's own copy
    generations: int
    tombstones: int


@define
class _Totals:
    touched: int = 0
    copied: int = 0
    checked: int = 0

    def add(self, arrival: Arrival) -> None:
        self.touched += arrival.copied > 0
        self.copied += arrival.copied
        self.checked += arrival.checked


def copy_vault(folder: Path, target: Path, clock: Clock, progress: Progress | None = None) -> CopyReport:
    """Bring the copy of the vault ``folder`` in ``target`` up to date. Others may write to the vault meanwhile.

    Raises ``ERR_NO_RECORD``, ``ERR_NOT_A_COPY``, ``ERR_LOCKED``,
    ``ERR_VAULT_DAMAGED``, ``ERR_DISK``, ``ERR_READ_ONLY``.
    """
    with closing(_reader(folder / JOURNAL)) as source:
        owner = _state(source, folder / JOURNAL).owner
    if not owner:
        raise FabulaError("ERR_NO_RECORD", f"nothing is sealed in {folder} yet", "fabula record scan")
    first = _claim(folder, target, owner)
    own = target / VAULT
    ensure_folder(own)
    ensure_folder(own / PACKS)
    with FileLock(own / LOCK):
        held = _held(own, target)
        _bring_key_file(folder, own)
        for attempt in range(_ATTEMPTS):
            _snapshot(folder / JOURNAL, own / _NEW)
            with closing(_reader(own / _NEW)) as taken:
                wanted = _state(taken, own / _NEW)
            _refuse_older(wanted, held, target)
            try:
                totals = _bring(folder, own, wanted, held, progress or Silent())
                break
            except FileNotFoundError as error:
                if attempt + 1 == _ATTEMPTS:
                    raise _missing(error) from error
        else:
            raise AssertionError("unreachable")
        _install(own, target, owner, clock)
        removed = _remove_others(own, wanted)
        if not (folder / KEY_FILE).exists():
            (own / KEY_FILE).unlink(missing_ok=True)  # the vault was decrypted, and now the copy is
    fresh = max(wanted.tombstones - (held.tombstones if held else 0), 0)
    return CopyReport(
        str(target), first, len(wanted.packs), totals.touched, totals.copied, totals.checked, removed, fresh,
        wanted.generations,
    )  # fmt: skip


def _bring_key_file(folder: Path, own: Path) -> None:
    """Copy what says how the key of an encrypted vault is kept: the copy is encrypted under the same key."""
    from fabula.storage.files import write_atomic

    with suppress(FileNotFoundError):
        write_atomic(own / KEY_FILE, (folder / KEY_FILE).read_bytes())


def _missing(error: FileNotFoundError) -> FabulaError:
    return FabulaError("ERR_VAULT_DAMAGED", f"{error.filename} is missing", "fabula record verify --repair")


# -- whose copy it is ----------------------------------------------------------------------------------------------


def _claim(folder: Path, target: Path, owner: bytes) -> bool:
    """Make sure that ``target`` is ours to write to; say whether it was empty before."""
    inside = target.resolve().is_relative_to(folder.resolve()) or folder.resolve().is_relative_to(target.resolve())
    if inside:
        raise FabulaError("ERR_NOT_A_COPY", f"{target} and the vault lie one within the other", "name another folder")
    ensure_folder(target)
    marker = read_marker(target)
    if marker is None:
        with disk_errors(target):
            if any(name for name in os.listdir(target) if not name.startswith(f".{MARKER}.")):
                raise FabulaError(
                    "ERR_NOT_A_COPY", f"{target} is not empty, and no copy of this vault", "name an empty folder"
                )
        write_marker(target, Marker(owner.hex()))
        return True
    if marker.vault != owner.hex():
        raise FabulaError("ERR_NOT_A_COPY", f"{target} holds a copy of another vault", "name another folder")
    return marker.journal == ""


def _held(own: Path, target: Path) -> _State | None:
    """Return what the copy holds; ``None`` when no copy was finished yet. It must be as the last copy left it."""
    journal = own / JOURNAL
    if not journal.exists():
        return None
    marker = read_marker(target)
    log = journal.with_name(journal.name + "-wal")
    written = log.exists() and log.stat().st_size
    if written or marker is None or journal_digest(journal) not in {marker.journal, marker.next}:
        raise FabulaError(
            "ERR_NOT_A_COPY", f"{target} was used as a vault of its own since it was copied", "name another folder"
        )
    with closing(_reader(journal)) as connection:
        return _state(connection, journal)


def _refuse_older(wanted: _State, held: _State | None, target: Path) -> None:
    """Refuse to replace what is newer: a vault that was itself put back from somewhere."""
    for pack_id, (_, length) in held.packs.items() if held else ():
        if pack_id in wanted.packs and wanted.packs[pack_id][1] < length:
            raise FabulaError(
                "ERR_NOT_A_COPY", f"{target} holds more than the vault: the vault is older", "name another folder"
            )


# -- the journal ---------------------------------------------------------------------------------------------------


def _reader(path: Path) -> apsw.Connection:
    return open_reader(path, version=VERSION, application=APPLICATION_ID)


def _state(db: apsw.Connection, path: Path) -> _State:
    with database_errors(path), db:
        meta = dict(db.execute("select key, value from meta"))
        packs = {row[0]: (row[1], row[2]) for row in db.execute("select id, class, length from packs where length")}
        frames: dict[int, list[FramePlace]] = {pack_id: [] for pack_id in packs}
        for pack_id, *place in db.execute("select pack_id, offset, length, records, crc from frames order by 1, 2"):
            frames.setdefault(pack_id, []).append(FramePlace(*place))
        (counts,) = db.execute("select (select count(*) from generations), (select count(*) from tombstones)")
    number, length, _ = state_of(meta.get(META))
    return _State(meta.get("owner", b""), packs, frames, (number, length), *counts)


def _snapshot(journal: Path, to: Path) -> None:
    """Write the journal's state of this moment, without free pages, as a database of its own."""
    with disk_errors(to):
        os.close(os.open(to, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_NOFOLLOW", 0), PRIVATE_FILE))
    with closing(_reader(journal)) as source, database_errors(to):
        source.execute("vacuum into ?", (os.fspath(to),))
    with disk_errors(to), open(to, "r+b") as written:
        os.fsync(written.fileno())


def _install(own: Path, target: Path, owner: bytes, clock: Clock) -> None:
    """Make the new journal the copy's: from here on it is what the vault was."""
    new, journal = own / _NEW, own / JOURNAL
    known = read_marker(target) or Marker(owner.hex())
    digest = journal_digest(new)
    write_marker(target, Marker(owner.hex(), known.journal, digest, known.copied_at))
    with disk_errors(own):
        for suffix in ("-wal", "-shm"):
            journal.with_name(journal.name + suffix).unlink(missing_ok=True)
        os.replace(new, journal)
        sync_folder(own)
    write_marker(target, Marker(owner.hex(), digest, "", clock.now_ms()))


# -- packs ---------------------------------------------------------------------------------------------------------


def _bring(folder: Path, own: Path, wanted: _State, held: _State | None, progress: Progress) -> _Totals:
    """Copy what is missing of every pack, and read it back. Raises ``FileNotFoundError`` for a pack that is gone."""
    totals = _Totals()
    progress.start(len(wanted.packs), sum(length for _, length in wanted.packs.values()))
    for pack_id, (pack_class, length) in wanted.packs.items():
        name = pack_name(pack_id, pack_class)
        known = held.frames.get(pack_id, []) if held else []
        valid = held.packs[pack_id][1] if held and pack_id in held.packs else 0
        totals.add(bring_pack(folder / PACKS / name, own / PACKS / name, length, wanted.frames[pack_id], known, valid))
        progress.advance(1, length)
    progress.finish()
    number, length = wanted.log
    if number:
        name = copy_name(number)
        valid = held.log[1] if held and held.log[0] == number else 0
        totals.add(bring_log(folder / PACKS / name, own / PACKS / name, length, valid))
    with disk_errors(own):
        sync_folder(own / PACKS)
    return totals


def _remove_others(own: Path, wanted: _State) -> int:
    """Remove the packs that the journal does not name; return how many held records."""
    gone = [name for pack_id, name in packs_on_disk(own).items() if pack_id not in wanted.packs]
    logs = [name for number, name in copies_on_disk(own).items() if number != wanted.log[0]]
    with disk_errors(own):
        for name in (*gone, *logs):
            (own / PACKS / name).unlink(missing_ok=True)
        if gone or logs:
            sync_folder(own / PACKS)
    return len(gone)
