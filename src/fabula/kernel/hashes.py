"""Content digests. SHA-256 throughout: anyone can check a quote with ``sha256sum``."""

from __future__ import annotations

from hashlib import sha256

DIGEST_BYTES = 32
PREFIX = "sha256:"


def digest(data: bytes | bytearray | memoryview) -> bytes:
    """Return the 32-byte SHA-256 digest of ``data``."""
    return sha256(data).digest()


def digest_text(raw: bytes) -> str:
    """Write a raw digest as ``sha256:<hex>``, the form used in envelopes and citations."""
    return PREFIX + raw.hex()
