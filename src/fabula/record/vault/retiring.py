"""Taking generations out of the vault that retention lets go: what they hold is read, and their manifests are removed.

The records that only they named are collected afterwards, as everything that nobody names.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.kernel.errors import FabulaError
from fabula.kernel.hashes import digest
from fabula.kernel.records import SLIMMED_KEY
from fabula.record.vault import manifest
from fabula.record.vault.journal import journal_errors
from fabula.record.vault.journal_shared import drop_unused
from fabula.record.vault.retention import Sealed

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from fabula.record.vault.journal import Journal
    from fabula.record.vault.reading import Reading
    from fabula.record.vault.values import SourceEntry

_SLIMMED = f'"{SLIMMED_KEY}":true'.encode()


def sealed_generations(journal: Journal, reading: Reading, held: Iterable[int]) -> list[Sealed]:
    """Return every generation with what is full in it. ``held`` are ids that stay whatever is set.

    Raises ``ERR_VAULT_DAMAGED`` where a manifest or a record cannot be read.
    """
    kept = frozenset(held)
    cited = {row[0] for row in journal.rows("select distinct digest from citations")}
    pinned = {row[0] for row in journal.rows("select ref from pins where kind='session'")}
    found = []
    for source in journal.sources("order by id"):
        stays = source.session in pinned
        found += _of_source(journal, reading, source, kept, cited, stays=stays)
    return found


def _of_source(
    journal: Journal, reading: Reading, source: SourceEntry, kept: frozenset[int], cited: set[bytes], *, stays: bool
) -> list[Sealed]:
    found = []
    begun = [each.begun_at for each in source.generations[1:]]
    for generation, superseded in zip(source.generations, [*begun, None], strict=True):
        holds, slimmed = _holds(journal, reading, generation.id, cited)
        tail = journal.generation(generation.id)
        if tail is not None and tail.tail:
            holds.add(digest(tail.tail))
        held = stays or generation.id in kept
        found.append(
            Sealed(generation.id, source.id, generation.number, superseded, slimmed, frozenset(holds), held)
        )  # fmt: skip
    return found


def _holds(journal: Journal, reading: Reading, generation_id: int, cited: set[bytes]) -> tuple[set[bytes], int]:
    """Return the keys of what is full in a generation, and the bytes of what is slimmed in it."""
    full: set[bytes] = set()
    slimmed = 0
    query = "select offset, length, layout, digests from manifests where generation_id=? order by offset"
    for row in journal.rows(query, (generation_id,)):
        try:
            segment = manifest.Segment(*row)
        except ValueError as error:
            raise FabulaError(
                "ERR_VAULT_DAMAGED", f"the vault is damaged: {error}", "fabula record verify --repair"
            ) from error
        for piece in segment.pieces():
            if piece.kind == manifest.GAP and piece.value.strip():
                full.add(digest(piece.value))
            elif piece.kind in manifest.IN_PACK:
                if piece.value not in cited and _is_slimmed(reading.record(piece.value, piece.length)):
                    slimmed += piece.length
                else:
                    full.add(piece.value)
    return full, slimmed


def _is_slimmed(record: bytes) -> bool:
    """Say whether a record says of itself, and not of something that it quotes, that a pruner of ours shortened it."""
    if _SLIMMED not in record:
        return False
    import json

    try:
        value = json.loads(record)
    except ValueError:
        return False
    return isinstance(value, dict) and value.get(SLIMMED_KEY) is True


def retire(folder: Path, journal: Journal, generations: Iterable[int]) -> set[bytes]:
    """Remove generations, in one durable transaction; return the digests that nobody names since.

    The caller holds the vault's lock. Raises ``ERR_DISK``, ``ERR_DATABASE``.
    """
    from fabula.record.vault import journal_copy
    from fabula.record.vault.erasing import referenced

    rows = [(generation,) for generation in sorted(generations)]
    gone: set[bytes] = set()
    with journal_errors(journal.path), journal.connection as db:
        before = referenced(db)
        db.executemany("delete from segments where generation_id=?", rows)
        db.executemany("delete from generations where id=?", rows)
        db.executemany("delete from meta where key=?", [(f"rewrite/{row[0]}",) for row in rows])
        drop_unused(db)
        journal_copy.renew(db, folder)
        gone |= before - referenced(db)
    return gone
