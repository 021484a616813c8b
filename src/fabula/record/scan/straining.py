"""Whether what is read passes a sieve: only where anything was ever forgotten."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fabula.record.forgetting.sieve import Sieve
    from fabula.record.sources import Chunk, Normaliser
    from fabula.record.vault.vault import Vault


def sieve_for(vault: Vault | None, path: str) -> Sieve | None:
    """Return the sieve for one file of a vault that is open for writing; ``None`` where nothing was ever forgotten."""
    tombstones = vault.tombstones if vault is not None else None
    if tombstones is None:
        return None
    from fabula.record.forgetting.sieve import Sieve

    return Sieve(tombstones, path)


def holes_of(sieve: Sieve, chunk: Chunk, normaliser: Normaliser) -> frozenset[int]:
    """Return where pieces of a chunk begin that were forgotten, of a file that is sealed without being mapped."""
    from fabula.kernel.records import Accounting, Record
    from fabula.record.reading.sentinels import hide_across_blocks

    sieve.strain_heads(chunk)
    made = [
        normaliser.normalise(found.value, found.offset, found.length)
        for found in chunk.values
        if isinstance(found.value, dict)
    ]
    records = [record for record in made if isinstance(record, Record)]
    for record in records:
        hide_across_blocks(record.blocks)
    sieve.strain(chunk, records, Accounting())
    return sieve.holes
