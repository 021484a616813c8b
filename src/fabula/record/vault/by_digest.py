"""A record by the digest of its bytes alone, whichever file it was part of: what a citation rests on."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

from fabula.kernel.errors import FabulaError
from fabula.kernel.hashes import digest_text
from fabula.record.vault.folder import PACKS, pack_name
from fabula.record.vault.reading import damaged
from fabula.record.vault.tombstones import BYTES, UID, keyed_print

if TYPE_CHECKING:
    from fabula.record.vault.vault import Vault


def record_by_digest(vault: Vault, digest: bytes) -> bytes | None:
    """Return the bytes with this SHA-256, checked; ``None``: the vault has none. Raises ``ERR_VAULT_DAMAGED``.

    Another process may just have written its pack anew: then it is looked up once more.
    """
    if not vault.holds(digest):
        return None
    try:
        record = _read(vault, digest)
    except FabulaError:
        record = _read(vault, digest)
    if record is None or sha256(record).digest() != digest:
        raise damaged(f"the record {digest_text(digest)} does not match its digest")
    return record


def _read(vault: Vault, digest: bytes) -> bytes | None:
    from fabula.storage.packs import PackReader

    place = vault.journal.places([digest]).get(digest)
    if place is None:
        return vault.journal.loose(digest)
    name = pack_name(place.pack_id, place.pack_class)
    try:
        reader = PackReader(vault.folder / PACKS / name)
        try:
            frame = reader.frame(place.offset, place.length)
        finally:
            reader.close()
    except (ValueError, OSError) as error:
        raise damaged(f"{name}, the frame at byte {place.offset}: {error}") from error
    length = next((length for found, length in frame.table if found == digest), 0)
    return frame.content[place.start : place.start + length]


def forgotten_at(vault: Vault, uid: str, digest: bytes) -> int | None:
    """Return when a record was forgotten on purpose (ms), by its id or its bytes; ``None``: it was not."""
    key = vault.journal.meta("tombstone_key")
    if key is None:
        return None
    prints = keyed_print(key, UID, uid.encode("utf-8", "surrogatepass")), keyed_print(key, BYTES, digest)
    query = "select min(forgotten_at) from tombstones where print in (?,?)"
    found: int | None = vault.journal.rows(query, prints)[0][0]
    return found
