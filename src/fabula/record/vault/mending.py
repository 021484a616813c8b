"""Mending: records that the vault has lost are sealed again where their source still holds the same bytes."""

from __future__ import annotations

import os
from hashlib import sha256
from typing import TYPE_CHECKING

from fabula.record.vault.verifying import lost_records

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fabula.record.vault.filling import Filling
    from fabula.record.vault.journal import Journal
    from fabula.record.vault.values import Touched


def mend(journal: Journal, filling: Filling) -> tuple[int, int]:
    """Store lost records again; return how many were, and how many stay lost. Raises ``ERR_DISK``."""
    lost = lost_records(journal)
    mended = 0
    for digest, places in sorted(lost.items()):
        record = _from_sources(digest, places)
        if record is not None:
            filling.add(digest, record)
            mended += 1
    return mended, len(lost) - mended


def _from_sources(digest: bytes, places: Iterable[Touched]) -> bytes | None:
    for place in places:
        try:
            with open(place.path, "rb") as file:
                file.seek(place.offset, os.SEEK_SET)
                record = file.read(place.length)
        except (OSError, ValueError):  # gone, or no plain file
            continue
        if sha256(record).digest() == digest:
            return record
    return None
