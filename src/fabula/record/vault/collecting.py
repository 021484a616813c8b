"""Collecting what the vault holds for nobody: records that no manifest names, and packs that the journal does not name.

Nothing goes that is the only copy of a part of any file: a record that a manifest names stays, and a pack that is not
the journal's goes only when all its records are held elsewhere.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.kernel.errors import FabulaError
from fabula.kernel.values import define, field, frozen
from fabula.record.vault.erasing import COLLECTING, ERASING, finish, referenced
from fabula.record.vault.folder import PACKS, packs_on_disk
from fabula.record.vault.journal import journal_errors, marked
from fabula.record.vault.sweeping import packs_with_dead
from fabula.record.vault.tombstones import BYTES, Tombstones
from fabula.storage.files import disk_errors, sync_folder
from fabula.storage.packs import Frame, PackReader

if TYPE_CHECKING:
    from pathlib import Path

    from fabula.record.vault.journal import Journal
    from fabula.record.vault.sweeping import Swept


@frozen
class StrayPack:
    """A pack on disk that the journal does not name; ``reason`` says why it stays, "" when it may go."""

    name: str
    size: int
    reason: str


@define
class Garbage:
    """What may go. ``unnamed`` are digests in the index that no manifest names; ``dead`` counts records in packs that
    the index does not name.
    """

    dead: int = 0
    packs: int = 0  # that would be written anew
    unnamed: set[bytes] = field(default_factory=set)
    unnamed_bytes: int = 0
    strays: list[StrayPack] = field(default_factory=list)

    @property
    def nothing(self) -> bool:
        """Whether nothing may go."""
        return not (self.packs or self.unnamed or any(not stray.reason for stray in self.strays))


def look_for_garbage(folder: Path, journal: Journal) -> Garbage:
    """Find what may go, without changing anything.

    Raises ``ERR_VAULT_DAMAGED`` where manifests cannot be read or name records that are lost: what looks like garbage
    there may be what a repair needs.
    """
    garbage = Garbage()
    with journal_errors(journal.path), journal.connection as db:
        try:
            named = referenced(db)
        except ValueError as error:
            raise _damaged(str(error)) from error
        held = {row[0]: row[1] for row in journal.each("select digest, length(data) from loose")}
        packed = {row[0] for row in journal.each("select digest from blobs")}
        if named - packed - held.keys():
            raise _damaged("manifests name records that it does not hold")
        garbage.unnamed = (packed | held.keys()) - named
        garbage.unnamed_bytes = sum(held.get(digest, 0) for digest in garbage.unnamed)
        frames = journal.rows("select coalesce(sum(records), 0) from frames")[0][0]
        garbage.dead = int(frames) - len(packed)
        fading = journal.rows(_FADING, ()) if garbage.unnamed else []
        hit = {pack for pack, digest in fading if digest in garbage.unnamed}
        garbage.packs = len(hit | set(packs_with_dead(journal)))
        garbage.strays = _strays(folder, journal, packed | held.keys())
    return garbage


_FADING = "select f.pack_id, b.digest from blobs b join frames f on f.id = b.frame_id"


def _damaged(what: str) -> FabulaError:
    return FabulaError("ERR_VAULT_DAMAGED", f"the vault is damaged: {what}", "fabula record verify --repair")


def _strays(folder: Path, journal: Journal, held: set[bytes]) -> list[StrayPack]:
    known = {row[0] for row in journal.rows("select id from packs")}
    owner = journal.meta("owner")
    tombstones = Tombstones.load(journal)
    found = []
    for pack_id, name in packs_on_disk(folder).items():
        if pack_id not in known:
            path = folder / PACKS / name
            found.append(StrayPack(name, path.stat().st_size, _why_it_stays(path, owner, held, tombstones)))
    return found


def _why_it_stays(path: Path, owner: bytes | None, held: set[bytes], tombstones: Tombstones | None) -> str:
    """Say why a pack that the journal does not name must stay; "" when every record in it is held elsewhere."""
    try:
        pack = PackReader(path)
    except OSError as error:
        return error.strerror or str(error)
    try:
        if pack.header()[1] != owner:
            return "it belongs to another vault"
        for part in pack.walk(pack.size()):
            if not isinstance(part, Frame):
                return f"it is damaged: {part}"
            for digest, _ in part.table:
                if digest not in held and not (tombstones is not None and tombstones.has(BYTES, digest)):
                    return "it holds records that are nowhere else: fabula record verify --repair takes them in"
    except (ValueError, OSError) as error:
        return str(error)
    finally:
        pack.close()
    return ""


def collect(folder: Path, journal: Journal, garbage: Garbage) -> Swept:
    """Remove what was found. The caller holds the vault's lock, and found it under that lock.

    The transaction that takes records out of the index is the commit point; the next writer finishes after a crash.
    Raises ``ERR_DISK``, ``ERR_DATABASE``, ``ERR_LOCKED``.
    """
    from fabula.record.vault import journal_copy

    rows = [(digest,) for digest in sorted(garbage.unnamed)]
    with journal_errors(journal.path), journal.connection as db:
        db.executemany("delete from blobs where digest=?", rows)
        db.executemany("delete from loose where digest=?", rows)
        db.execute("insert or replace into meta values(?,?,?)", marked((ERASING, COLLECTING)))
        journal_copy.renew(db, folder)
    with disk_errors(folder):
        for stray in garbage.strays:
            if not stray.reason:
                (folder / PACKS / stray.name).unlink(missing_ok=True)
        sync_folder(folder / PACKS)
    return finish(folder, journal)
