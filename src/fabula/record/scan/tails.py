"""The digest of a file's last bytes before a point: tells growth from rewriting at the price of one small read."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from fabula.kernel.errors import FabulaError
from fabula.kernel.hashes import digest

if TYPE_CHECKING:
    from fabula.record.vault.vault import Vault

TAIL_BYTES = 4_096


def tail_of(data: bytes, before: bytes = b"") -> bytes:
    """Return the digest of the last 4 KB of ``before + data``."""
    if len(data) >= TAIL_BYTES:
        return digest(data[-TAIL_BYTES:])
    return digest((before + data)[-TAIL_BYTES:])


def before(path: str, end: int) -> bytes:
    """Return the up to 4 KB before ``end`` of a file on disk. Raises ``OSError``."""
    start = max(0, end - TAIL_BYTES)
    handle = os.open(path, os.O_RDONLY)
    try:
        return os.pread(handle, end - start, start)
    finally:
        os.close(handle)


def tail_on_disk(path: str, end: int) -> bytes | None:
    """Return the digest of the 4 KB before ``end``; ``None`` when the file is shorter. Raises ``OSError``."""
    data = before(path, end)
    return digest(data) if len(data) == min(end, TAIL_BYTES) else None


def same_bytes(path: str, vault: Vault, generation: int) -> bool:
    """Say whether a file that is written whole holds exactly the sealed bytes: its end alone tells nothing.

    Damaged sealed bytes are not the file's. Raises ``OSError``.
    """
    with open(path, "rb") as file:
        try:
            return all(file.read(len(piece)) == piece for piece in vault.stream(generation)) and not file.read(1)
        except FabulaError:
            return False
