"""Content digests. SHA-256 throughout: anyone can check a quote with ``sha256sum``."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

DIGEST_BYTES = 32
PREFIX = "sha256:"
#: Bytes from which on OpenSSL, which ``hashlib`` loads, is worth its milliseconds. Below, Python's own code does, as in
#: the standard library's ``random``: a short command hashes a few records.
LOADED_FROM = 1_000_000


def digest(data: bytes | bytearray | memoryview) -> bytes:
    """Return the 32-byte SHA-256 digest of ``data``."""
    result: bytes = _hasher.sha256(data).digest()
    return result


def digest_text(raw: bytes) -> str:
    """Write a raw digest as ``sha256:<hex>``, the form used in envelopes and citations."""
    return PREFIX + raw.hex()


class _Hasher:
    """Chooses the implementation of SHA-256 by what there is to do."""

    def __init__(self) -> None:
        self.hashed = 0
        light = _light()
        self.sha256: Callable[[Any], Any] = self._few if light is not None else _openssl()
        self._light: Callable[[Any], Any] = light or self.sha256

    def _few(self, data: bytes | bytearray | memoryview) -> Any:
        self.hashed += len(data)
        if self.hashed < LOADED_FROM and "_hashlib" not in sys.modules:
            return self._light(data)
        self.sha256 = _openssl()
        return self.sha256(data)


def _light() -> Callable[[Any], Any] | None:
    """Return the implementation that comes with Python itself, ``None`` where there is none."""
    name = "_sha2" if sys.version_info >= (3, 12) else "_sha256"
    try:
        made: Callable[[Any], Any] = __import__(name).sha256
    except (ImportError, AttributeError):
        return None
    return made


def _openssl() -> Callable[[Any], Any]:
    from hashlib import sha256

    return sha256


_hasher = _Hasher()
