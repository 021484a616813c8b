"""The digest of a file's last bytes before a point: tells growth from rewriting at the price of one small read."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from fabula.kernel.errors import FabulaError
from fabula.kernel.hashes import digest
from fabula.record.vault.tombstones import mark_of_bytes

if TYPE_CHECKING:
    from collections.abc import Sequence

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

    Damaged sealed bytes are not the file's. What was forgotten is not compared, unless it was all of the file: then
    the file must hold what was forgotten. Raises ``OSError``.
    """
    with open(path, "rb") as file:
        try:
            holes = vault.holes(generation)
            if holes:
                return _same_but_for_holes(file.read(), path, vault, generation, holes)
            return all(file.read(len(piece)) == piece for piece in vault.stream(generation)) and not file.read(1)
        except FabulaError:
            return False


def _same_but_for_holes(
    data: bytes, path: str, vault: Vault, generation: int, holes: Sequence[tuple[int, int]]
) -> bool:
    if [*holes] == [(0, len(data))]:
        tombstones = vault.tombstones
        return tombstones is not None and tombstones.any_of([mark_of_bytes(path, digest(data), len(data))])
    seen = bytearray(data)
    for offset, length in holes:
        seen[offset : offset + length] = bytes(length)
    return b"".join(vault.stream(generation, fill=b"\0")) == seen
