"""Sealing bytes: XChaCha20-Poly1305 of libsodium (PyNaCl), under one random key of 32 bytes.

A sealed piece is ``nonce:24 ciphertext tag:16``; nonces are random (192 bits: no count to keep, none repeats). What a
piece is, and where it lies, goes in as associated data: a piece that was moved or changed is not opened.
Format: RFC 8439 with the extended nonce of draft-irtf-cfrg-xchacha.
"""

from __future__ import annotations

from hashlib import blake2b
from os import urandom

from fabula.kernel.errors import FabulaError

KEY_BYTES = 32
KEY_ID_BYTES = 16
NONCE_BYTES = 24
OVERHEAD = NONCE_BYTES + 16  # bytes that sealing adds


class UnsealError(ValueError):
    """The bytes are not what was sealed there under this key."""


class Cipher:
    """Seals and opens under one key. ``key_id`` names the key and tells nothing of it."""

    def __init__(self, key: bytes) -> None:
        """Raises ``ERR_EXTRA_MISSING`` without PyNaCl."""
        if len(key) != KEY_BYTES:
            raise ValueError(f"a key has {KEY_BYTES} bytes")
        try:
            from nacl import bindings, exceptions
        except ImportError as error:
            raise FabulaError(
                "ERR_EXTRA_MISSING",
                "this record is encrypted, and the library for that is not installed",
                "pip install 'fabula[encryption]'",
            ) from error
        self.key_id = key_id(key)
        self.key = key
        self._seal = bindings.crypto_aead_xchacha20poly1305_ietf_encrypt
        self._open = bindings.crypto_aead_xchacha20poly1305_ietf_decrypt
        self._refused = exceptions.CryptoError

    def seal(self, data: bytes, place: bytes) -> bytes:
        """Return ``data`` sealed for ``place``: ``OVERHEAD`` bytes longer."""
        nonce = urandom(NONCE_BYTES)
        return nonce + self._seal(data, place, nonce, self.key)

    def open(self, sealed: bytes, place: bytes) -> bytes:
        """Inverse of :meth:`seal`. Raises :class:`UnsealError`."""
        try:
            return self._open(sealed[NONCE_BYTES:], place, sealed[:NONCE_BYTES], self.key)
        except (self._refused, ValueError) as error:
            raise UnsealError("what was sealed here does not open: it was changed, or the key is another") from error


def key_id(key: bytes) -> bytes:
    """Return the name of a key: a BLAKE2b digest of it."""
    return blake2b(key, digest_size=KEY_ID_BYTES, person=b"fabula key").digest()
