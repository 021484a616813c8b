"""Use case: encrypt the record: vault, map, and copies that are made of it from then on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.app.consent import ask_secret, require_consent
from fabula.app.vault.conversion import convert_home, settled, size_of
from fabula.kernel.errors import Exit, FabulaError
from fabula.kernel.values import frozen, replace

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path
    from typing import Any

    from fabula.app.vault.conversion import Size
    from fabula.app.wiring import App
    from fabula.record.scan.report import Progress

WORD = "encrypt"
_AGAIN = "fabula vault encrypt --apply"
_SHORTEST = 8  # characters of a passphrase


@frozen
class EncryptRequest:
    """``key_file`` is where the key will lie, or lies; ``passphrase``: under one typed at the terminal instead."""

    apply: bool = False
    key_file: Path | None = None
    passphrase: bool = False
    progress: Progress | None = None


@frozen
class EncryptResult:
    """What is to be written anew, or was. ``kept`` says how the key is kept."""

    applied: bool
    already: bool
    packs: int
    bytes: int
    kept: str = ""
    records: int = 0
    problems: tuple[str, ...] = ()

    @property
    def exit_status(self) -> Exit:
        """A vault that is not sound afterwards is no success."""
        return Exit.COULD_NOT if self.problems else Exit.DONE


def encrypt(app: App, request: EncryptRequest) -> EncryptResult:
    """Preview or do it, with the consent of a person: who loses the key loses the record.

    Raises ``ERR_EXTRA_MISSING``, ``ERR_KEY``, ``ERR_PATH``, ``ERR_CONSENT``, ``ERR_LOCKED``, ``ERR_VAULT_DAMAGED``,
    ``ERR_DISK``, ``ERR_READ_ONLY``.
    """
    from fabula.storage.cipher import Cipher
    from fabula.storage.files import ensure_folder
    from fabula.storage.keyring import remember

    Cipher(bytes(32))  # says at once that the extra is not installed
    said = settled(app)
    size = size_of(app)
    if said is not None:
        return EncryptResult(applied=False, already=True, packs=size.packs, bytes=size.bytes, kept=kept_in_words(said))
    if not request.apply:
        return EncryptResult(applied=False, already=False, packs=size.packs, bytes=size.bytes)
    _check(app, request)
    require_consent(_lines(size), WORD, _AGAIN)
    ensure_folder(app.home.vault)
    key, said = _key(app, request)
    cipher = Cipher(key)
    remember(cipher)
    converted, problems = convert_home(app, cipher, said, request.progress)
    result = EncryptResult(applied=True, already=False, packs=converted.packs, bytes=converted.bytes)
    return replace(result, kept=kept_in_words(said), records=converted.records, problems=tuple(problems))


def kept_in_words(said: Mapping[str, Any]) -> str:
    """Say where the key of a record is, from what ``key.json`` says."""
    if said.get("wrapped"):
        return "the key lies in the vault, under your passphrase"
    return f"the key lies in {said['file']}" if said.get("file") else "the key is given by your settings"


def _check(app: App, request: EncryptRequest) -> None:
    by_settings = app.config["record.key_command"] or app.config["record.key_files"]
    if not (request.passphrase or request.key_file or by_settings):
        raise FabulaError(
            "ERR_USAGE", "say how the key is to be kept", f"{_AGAIN} --key-file FILE", f"{_AGAIN} --passphrase"
        )
    if request.passphrase and request.key_file:
        raise FabulaError("ERR_USAGE", "a key lies in a file or under a passphrase, not both", f"{_AGAIN} --passphrase")
    if request.key_file and request.key_file.resolve().is_relative_to(app.home.root.resolve()):
        raise FabulaError(
            "ERR_PATH", f"{request.key_file} lies in what it would protect", "name a file outside of FABULA_HOME"
        )


def _lines(size: Size) -> list[str]:
    return [
        f"The record is to be encrypted: {size.packs:,} packs, {size.bytes / 1e6:,.1f} MB, and all databases.",
        "Who loses the key loses the record; nobody can give it back. Keep a copy: fabula vault key shows it.",
        "Copies of the vault made before stay as readable as they are; so do the transcripts of your agents.",
    ]


def _key(app: App, request: EncryptRequest) -> tuple[bytes, dict[str, Any]]:
    """Return the key and what ``key.json`` is to say of it; a file that is named and missing is made."""
    from fabula.record.vault import keys
    from fabula.storage.cipher import KEY_BYTES

    if request.passphrase:
        key = app.entropy(KEY_BYTES)
        return key, keys.described(key, wrapped=keys.wrap(key, new_passphrase(), app.entropy(keys.SALT_BYTES)))
    if request.key_file:
        key = _from_file(app, request.key_file)
        return key, keys.described(key, file=str(request.key_file))
    from fabula.app.vault.unlocking import give_key

    key = give_key({}, app.config, may_ask=False)
    return key, keys.described(key)


def _from_file(app: App, file: Path) -> bytes:
    from fabula.app.vault.unlocking import key_from_files
    from fabula.record.vault import keys
    from fabula.storage.cipher import KEY_BYTES
    from fabula.storage.files import create_atomic, ensure_folder

    there = key_from_files([file], {})
    if there is not None:
        return there
    key = app.entropy(KEY_BYTES)
    ensure_folder(file.parent)
    create_atomic(file, keys.as_text(key).encode() + b"\n")
    return key


def new_passphrase() -> str:
    """Let a person type a new passphrase, twice. Raises ``ERR_CONSENT``, ``ERR_KEY``."""
    advice = "repeat the command in a terminal"
    first = ask_secret("New passphrase of the record: ", advice)
    if len(first) < _SHORTEST:
        raise FabulaError("ERR_KEY", f"a passphrase has at least {_SHORTEST} characters", advice)
    if ask_secret("The same again: ", advice) != first:
        raise FabulaError("ERR_KEY", "the two were not the same: nothing was changed", advice)
    return first
