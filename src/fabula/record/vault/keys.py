"""The key of an encrypted vault: ``key.json``, how it is wrapped under a passphrase, and its form for people.

::

    {"format": 1, "key": id, "file": path or "", "converting": true while files are being converted,
     "wrapped": null or {"kdf": "argon2id", "ops": 3, "memory": bytes, "salt": hex, "sealed": hex}}

``key`` is the id of the key in hexadecimal (see ``cipher``). The key is 32 random bytes; without ``wrapped`` it lies
outside: in a file, or with a program that is asked for it. Wrapping: Argon2id (RFC 9106) makes a key of the passphrase,
under which the vault's key is sealed. A new passphrase wraps the same key anew: no file of the vault changes.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from fabula.kernel.errors import FabulaError
from fabula.storage.cipher import KEY_BYTES, Cipher, UnsealError, key_id
from fabula.storage.files import write_atomic
from fabula.storage.keyring import FORMAT, KEY_FILE

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

OPS = 3
MEMORY = 64 << 20
SALT_BYTES = 16
_WRAPPED = b"fabula key wrapped"
_KEY = re.compile(r"[0-9a-f]{64}")


def described(key: bytes, *, file: str = "", wrapped: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return what ``key.json`` says of a key."""
    return {"format": FORMAT, "key": key_id(key).hex(), "file": file, "wrapped": wrapped}


def write_key_file(vault: Path, said: Mapping[str, Any]) -> None:
    """Write ``key.json``, atomically and durably. Raises ``ERR_DISK``, ``ERR_READ_ONLY``."""
    write_atomic(vault / KEY_FILE, json.dumps(said, indent=1).encode() + b"\n")


def wrap(key: bytes, passphrase: str, salt: bytes, *, memory: int = MEMORY) -> dict[str, Any]:
    """Return a key wrapped under a passphrase; ``salt`` has 16 random bytes. Raises ``ERR_EXTRA_MISSING``."""
    sealed = Cipher(_stretched(passphrase, salt, OPS, memory)).seal(key, _WRAPPED)
    return {"kdf": "argon2id", "ops": OPS, "memory": memory, "salt": salt.hex(), "sealed": sealed.hex()}


def unwrap(wrapped: Mapping[str, Any], passphrase: str) -> bytes:
    """Inverse of :func:`wrap`. Raises ``ERR_KEY`` when the passphrase is another, or the file is damaged."""
    try:
        salt, sealed = bytes.fromhex(wrapped["salt"]), bytes.fromhex(wrapped["sealed"])
        return Cipher(_stretched(passphrase, salt, int(wrapped["ops"]), int(wrapped["memory"]))).open(sealed, _WRAPPED)
    except (UnsealError, KeyError, TypeError, ValueError) as error:
        raise FabulaError("ERR_KEY", "this is not the passphrase", "repeat the command") from error


def _stretched(passphrase: str, salt: bytes, ops: int, memory: int) -> bytes:
    try:
        from nacl.exceptions import CryptoError
        from nacl.pwhash import argon2id
    except ImportError as error:
        raise FabulaError(
            "ERR_EXTRA_MISSING", "the library for encryption is not installed", "pip install 'fabula[encryption]'"
        ) from error
    try:
        return bytes(argon2id.kdf(KEY_BYTES, passphrase.encode(), salt, opslimit=ops, memlimit=memory))
    except CryptoError as error:
        raise ValueError(str(error)) from error


def as_text(key: bytes) -> str:
    """Return a key as a person or a program keeps it: 64 hexadecimal digits."""
    return key.hex()


def from_text(text: str) -> bytes | None:
    """Inverse of :func:`as_text`, blanks and dashes apart; ``None`` when it is no key."""
    plain = re.sub(r"[\s-]", "", text).lower()
    return bytes.fromhex(plain) if _KEY.fullmatch(plain) else None
