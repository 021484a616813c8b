"""Identifiers: compact storage of UUIDs and stable derived ids for records that have none."""

from __future__ import annotations

from fabula.kernel.hashes import digest

DERIVED_PREFIX = "fab-"


def pack_id(value: str) -> bytes | str:
    """Return the 16 bytes of a canonical lower-case UUID, the 12 of a derived id, or the text itself."""
    if len(value) == 36 and value[8:24:5] == "----":
        digits, size = value.replace("-", ""), 16
    elif len(value) == 28 and value.startswith(DERIVED_PREFIX):
        digits, size = value[4:], 12
    else:
        return value
    try:
        raw = bytes.fromhex(digits)
    except ValueError:
        return value
    return raw if len(raw) == size and raw.hex() == digits else value


def unpack_id(stored: bytes | str) -> str:
    """Inverse of :func:`pack_id`."""
    if isinstance(stored, str):
        return stored
    text = stored.hex()
    if len(stored) == 12:
        return DERIVED_PREFIX + text
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def derived_id(*parts: str | bytes | int) -> str:
    """Return a stable id for something that its host gave none: ``fab-`` and 24 hex digits of the parts' SHA-256.

    The same parts give the same id on every machine; parts are length-framed so that no two lists collide.
    """
    framed: list[bytes] = []
    for part in parts:
        raw = part if isinstance(part, bytes) else str(part).encode("utf-8", "surrogatepass")
        framed += (len(raw).to_bytes(8, "big"), raw)
    return DERIVED_PREFIX + digest(b"".join(framed)).hex()[:24]
