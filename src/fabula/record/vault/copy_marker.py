"""The marker of a copy: of which vault it is, and the digest of the journal that the last copy left there."""

from __future__ import annotations

import json
from hashlib import file_digest
from typing import TYPE_CHECKING

from fabula.kernel.errors import FabulaError
from fabula.kernel.values import frozen
from fabula.storage.files import disk_errors, write_atomic

if TYPE_CHECKING:
    from pathlib import Path

MARKER = "fabula-copy.json"
_FORMAT = 1


@frozen
class Marker:
    """``vault`` is the owner of its packs, in hex. Digests are SHA-256 of a journal, in hex, or empty.

    ``next`` is the journal that was about to be put in place: a crash may have left either.
    """

    vault: str
    journal: str = ""
    next: str = ""
    copied_at: int = 0


def read_marker(target: Path) -> Marker | None:
    """Return a folder's marker; ``None`` without one. Raises ``ERR_NOT_A_COPY`` when it is not ours to read."""
    path = target / MARKER
    try:
        with disk_errors(path):
            data = path.read_bytes()
    except FabulaError:
        if path.exists():
            raise
        return None
    try:
        read = json.loads(data)
        marker = Marker(str(read["vault"]), str(read["journal"]), str(read["next"]), int(read["copied_at"]))
        known = read["format"] == _FORMAT
    except (ValueError, KeyError, TypeError) as error:
        raise FabulaError("ERR_NOT_A_COPY", f"{path} cannot be read: {error}", "name another folder") from error
    if not known:
        raise FabulaError("ERR_NOT_A_COPY", f"{path} was written by another Fabula", "name another folder")
    return marker


def write_marker(target: Path, marker: Marker) -> None:
    """Write a folder's marker, atomically. Raises ``ERR_DISK``, ``ERR_READ_ONLY``."""
    fields = {
        "format": _FORMAT, "vault": marker.vault, "journal": marker.journal, "next": marker.next,
        "copied_at": marker.copied_at,
    }  # fmt: skip
    write_atomic(target / MARKER, json.dumps(fields, indent=1).encode() + b"\n")


def journal_digest(journal: Path) -> str:
    """Return the SHA-256 of a journal's file, in hex."""
    with disk_errors(journal), open(journal, "rb") as file:
        return file_digest(file, "sha256").hexdigest()
