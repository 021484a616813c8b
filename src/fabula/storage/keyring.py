"""Which vaults are encrypted, and their keys: asked for by storage when a file is opened, given by the application.

A vault is encrypted when ``key.json`` lies in its folder. The file names the key and says how it is kept; the key
itself is not in it, or only wrapped under a passphrase (see ``record/vault/keys.py``). Databases and packs say of
themselves whether they are sealed, so that a vault may be read while it is being converted; this module says it for
new ones.
Standard library only, until a vault is encrypted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fabula.kernel.errors import FabulaError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from fabula.storage.cipher import Cipher

    Giver = Callable[[Path, Mapping[str, Any]], bytes]

KEY_FILE = "key.json"
FORMAT = 1
SEALED = b"FBSEALED"  # the first bytes of a sealed database: see ``sealed_files``

_givers: dict[str, Giver] = {}
_ciphers: dict[str, Cipher] = {}


def ask_for_key(vault: Path, giver: Giver) -> None:
    """Let ``giver`` be asked for the key of a vault, once, when it is needed.

    It is given the folder and what ``key.json`` says; it returns 32 bytes or raises ``ERR_KEY``.
    """
    _givers[str(vault.absolute())] = giver


def remember(cipher: Cipher) -> None:
    """Keep a cipher whose key is known already, for this process."""
    _ciphers[cipher.key_id.hex()] = cipher


def forget_keys() -> None:
    """Forget every key that this process knows."""
    _ciphers.clear()


def encrypted_vault_of(path: Path) -> Path | None:
    """Return the vault that a database belongs to, when that is encrypted: the journal's folder, or beside the map."""
    for folder in (path.parent, path.parent / "vault"):
        if (folder / KEY_FILE).exists():
            return folder
    return None


def read_key_file(vault: Path) -> dict[str, Any] | None:
    """Return what a vault's ``key.json`` says; ``None`` when it is not encrypted. Raises ``ERR_KEY``."""
    path = vault / KEY_FILE
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise FabulaError("ERR_KEY", f"{path} cannot be read: {error.strerror}", f"make it readable: {path}") from error
    import json

    try:
        said = json.loads(data)
    except ValueError as error:
        raise FabulaError("ERR_KEY", f"{path} cannot be read: {error}", f"put {path} back from a copy") from error
    if not isinstance(said, dict) or said.get("format") != FORMAT or not isinstance(said.get("key"), str):
        raise FabulaError("ERR_KEY", f"{path} is damaged, or of a newer Fabula", f"put {path} back from a copy")
    return said


def cipher_of(vault: Path) -> Cipher:
    """Return the cipher of an encrypted vault. Raises ``ERR_KEY``, ``ERR_EXTRA_MISSING``."""
    said = read_key_file(vault)
    if said is None:
        raise FabulaError(
            "ERR_KEY", f"{vault / KEY_FILE} is missing, and what lies there is encrypted", "put it back from a copy"
        )
    known = _ciphers.get(said["key"])
    if known is not None:
        return known
    from fabula.storage.cipher import Cipher

    giver = _givers.get(str(vault.absolute()))
    if giver is None:
        raise FabulaError("ERR_KEY", f"the key of {vault} is not known", f"export FABULA_HOME={vault.parent}")
    cipher = Cipher(giver(vault, said))
    if cipher.key_id.hex() != said["key"]:
        raise FabulaError("ERR_KEY", f"this is not the key of {vault}", "fabula help config")
    remember(cipher)
    return cipher


def cipher_for_new(vault: Path) -> Cipher | None:
    """Return with what a new file of a vault is sealed, ``None`` when it is not. Raises as :func:`cipher_of`.

    While a vault is being converted its journal decides, whose replacement is what converts it.
    """
    said = read_key_file(vault)
    if said is None or (said.get("converting") and not is_sealed(vault / "journal.db")):
        return None
    return cipher_of(vault)


def is_sealed(path: Path) -> bool:
    """Say whether a database is sealed; one that is missing or empty is not."""
    try:
        with open(path, "rb") as file:
            return file.read(len(SEALED)) == SEALED
    except OSError:
        return False
