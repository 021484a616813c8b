"""Collecting what the vault holds for nobody: records that no manifest names, and packs that the journal does not name.

Nothing goes that is the only copy of a part of any file: a record that a manifest names stays, and a pack that is not
the journal's goes only when all its records are held elsewhere.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.kernel.errors import FabulaError
from fabula.kernel.values import define, field
from fabula.record.vault.erasing import COLLECTING, ERASING, finish, referenced
from fabula.record.vault.journal import journal_errors, marked
from fabula.record.vault.strays import StrayPack, find_strays, remove_strays
from fabula.record.vault.sweeping import packs_with_dead

if TYPE_CHECKING:
    from pathlib import Path

    from fabula.record.vault.journal import Journal
    from fabula.record.vault.sweeping import Swept


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
        garbage.strays = find_strays(folder, journal, packed | held.keys())
    return garbage


_FADING = "select f.pack_id, b.digest from blobs b join frames f on f.id = b.frame_id"


def _damaged(what: str) -> FabulaError:
    return FabulaError("ERR_VAULT_DAMAGED", f"the vault is damaged: {what}", "fabula record verify --repair")


def collect(folder: Path, journal: Journal, garbage: Garbage) -> Swept:
    """Remove what was found. The caller holds the vault's lock, and found it under that lock.

    The transaction that takes records out of the index is the commit point; the next writer finishes after a crash.
    Raises ``ERR_DISK``, ``ERR_DATABASE``, ``ERR_LOCKED``.
    """
    from fabula.record.vault import journal_copy

    remove_strays(folder, garbage.strays)  # while all of them is still held elsewhere
    rows = [(digest,) for digest in sorted(garbage.unnamed)]
    with journal_errors(journal.path), journal.connection as db:
        db.executemany("delete from blobs where digest=?", rows)
        db.executemany("delete from loose where digest=?", rows)
        db.execute("insert or ignore into meta values(?,?,?)", marked((ERASING, COLLECTING)))  # a forgetting is more
        journal_copy.renew(db, folder)
    return finish(folder, journal)
