"""Counting what a vault holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.record.vault.values import VaultStats
from fabula.storage.packs_format import PackClass

if TYPE_CHECKING:
    from fabula.record.vault.journal import Journal


def measure(journal: Journal) -> VaultStats:
    """Return counts and sizes of what is committed. Raises ``ERR_DATABASE``."""
    sources, vanished = journal.rows("select count(*), count(vanished_at) from sources")[0]
    generations, sealed = journal.rows("select count(*), coalesce(sum(length + length(tail)), 0) from generations")[0]
    packed, content = journal.rows("select coalesce(sum(records), 0), coalesce(sum(content), 0) from frames")[0]
    loose, loose_bytes = journal.rows("select count(*), coalesce(sum(length(data)), 0) from loose")[0]
    sizes = {PackClass.RECORDS: 0, PackClass.IMAGES: 0}
    packs = journal.rows("select class, length from packs")
    for pack_class, length in packs:
        sizes[PackClass(pack_class)] += length
    return VaultStats(
        sources=sources,
        vanished=vanished,
        generations=generations,
        sealed_bytes=sealed,
        records=packed + loose,
        content_bytes=content + loose_bytes,
        packs=len(packs),
        pack_bytes=sum(sizes.values()),
        image_bytes=sizes[PackClass.IMAGES],
        loose_bytes=loose_bytes,
        journal_bytes=journal.bytes_on_disk(),
    )
