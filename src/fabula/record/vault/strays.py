"""Packs on disk that the journal does not name. They may hold what was forgotten."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.kernel.values import frozen
from fabula.record.vault.folder import PACKS, packs_on_disk
from fabula.record.vault.tombstones import BYTES, Tombstones
from fabula.storage.files import disk_errors, sync_folder
from fabula.storage.packs import Frame, PackReader

if TYPE_CHECKING:
    from collections.abc import Sequence
    from collections.abc import Set as AbstractSet
    from pathlib import Path

    from fabula.record.vault.journal import Journal


@frozen
class StrayPack:
    """Such a pack; ``reason`` says why it stays, "" when it may go. ``forgotten``: something in it was forgotten."""

    name: str
    size: int
    reason: str
    forgotten: bool = False


def find_strays(folder: Path, journal: Journal, held: AbstractSet[bytes]) -> list[StrayPack]:
    """Look into every pack that the journal does not name; ``held`` are the digests that its index holds."""
    known = {row[0] for row in journal.rows("select id from packs")}
    strays = {number: name for number, name in packs_on_disk(folder).items() if number not in known}
    if not strays:
        return []
    owner, tombstones = journal.meta("owner"), Tombstones.load(journal)
    return [_described(folder / PACKS / name, owner, held, tombstones) for name in strays.values()]


def held_by(journal: Journal) -> set[bytes]:
    """Return the digests of everything that the index holds."""
    return {row[0] for row in journal.each("select digest from blobs union all select digest from loose")}


def remove_strays(folder: Path, strays: Sequence[StrayPack]) -> None:
    """Remove those that may go. Raises ``ERR_DISK``, ``ERR_READ_ONLY``."""
    going = [stray.name for stray in strays if not stray.reason]
    if going:
        with disk_errors(folder):
            for name in going:
                (folder / PACKS / name).unlink(missing_ok=True)
            sync_folder(folder / PACKS)


def _described(path: Path, owner: bytes | None, held: AbstractSet[bytes], tombstones: Tombstones | None) -> StrayPack:
    size = path.stat().st_size
    try:
        pack = PackReader(path)
    except OSError as error:
        return StrayPack(path.name, size, error.strerror or str(error))
    try:
        if pack.header()[1] != owner:
            return StrayPack(path.name, size, "it belongs to another vault")
        reason, forgotten = "", False
        for part in pack.walk(pack.size()):
            if not isinstance(part, Frame):
                reason = reason or f"it is damaged: {part}"
                continue
            for digest, _ in part.table:
                buried = tombstones is not None and tombstones.has(BYTES, digest)
                forgotten = forgotten or buried
                if digest not in held and not buried:
                    reason = reason or "it holds records that are nowhere else: fabula record verify --repair"
        return StrayPack(path.name, size, reason, forgotten)
    except (ValueError, OSError) as error:
        return StrayPack(path.name, size, str(error))
    finally:
        pack.close()
