"""The vault's folder: which file is what."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from fabula.kernel.errors import FabulaError

if TYPE_CHECKING:
    from pathlib import Path

JOURNAL = "journal.db"
LOCK = "vault.lock"
PACKS = "packs"
CONVERTING = "converting.json"  # there while a vault is encrypted or decrypted
_PACK_NAME = r"(?:records|images)-(\d{6,})\.pack"
_COPY_NAME = r"journal-(\d{6,})\.pack"


def pack_name(pack_id: int, pack_class: int) -> str:
    """Return the file name of a pack."""
    from fabula.storage.packs_format import PackClass

    return f"{'images' if pack_class == PackClass.IMAGES else 'records'}-{pack_id:06d}.pack"


def packs_on_disk(folder: Path) -> dict[int, str]:
    """Return the packs in a vault's folder: id -> file name, in order."""
    return _numbered(folder, _PACK_NAME)


def copy_name(number: int) -> str:
    """Return the file name of a copy of the journal."""
    return f"journal-{number:06d}.pack"


def copies_on_disk(folder: Path) -> dict[int, str]:
    """Return the copies of the journal in a vault's folder: number -> file name, in order. One, but after a crash."""
    return _numbered(folder, _COPY_NAME)


def _numbered(folder: Path, pattern: str) -> dict[int, str]:
    import re

    packs = folder / PACKS
    names = os.listdir(packs) if packs.is_dir() else []
    found = {int(match[1]): match[0] for name in names if (match := re.fullmatch(pattern, name))}
    return dict(sorted(found.items()))


def require_journal(folder: Path) -> None:
    """Raise ``ERR_VAULT_DAMAGED`` where packs lie without their journal: a new one would hide what they hold."""
    if not (folder / JOURNAL).exists() and (packs_on_disk(folder) or copies_on_disk(folder)):
        raise FabulaError(
            "ERR_VAULT_DAMAGED", f"{folder / JOURNAL} is missing, its packs are there", "fabula record verify --repair"
        )
