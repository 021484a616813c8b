"""Getting the key of an encrypted record: from a command, from a file, or with a passphrase typed at a terminal."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fabula.kernel.errors import FabulaError
from fabula.record.vault.keys import from_text, unwrap

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fabula.app.config import Config

_SECONDS = 60  # that a command may take: a password manager may ask its person first


def give_key(said: Mapping[str, Any], config: Config, *, may_ask: bool) -> bytes:
    """Return the key that ``key.json`` describes.

    Asked in this order: ``record.key_command``, ``record.key_files``, the file that ``key.json`` names, and, where a
    person sits there (``may_ask``), the passphrase. What the first of them gives counts. Raises ``ERR_KEY``,
    ``ERR_CONFIG``.
    """
    command = config["record.key_command"]
    if command:
        return _as_key(run_command(command), said, f"record.key_command in {config.file}")
    found = key_from_files([*config["record.key_files"], *([Path(said["file"])] if said.get("file") else [])], said)
    if found is not None:
        return found
    ways = f"set record.key_command or record.key_files in {config.file} (fabula help config)"
    if not said.get("wrapped"):
        named = f"put the key back at {said['file']}" if said.get("file") else ways
        raise FabulaError("ERR_KEY", "the record is encrypted, and its key was not found", named, ways)
    if not may_ask:
        raise FabulaError("ERR_KEY", "the record is encrypted, and nobody is there to type its passphrase", ways)
    from fabula.app.consent import ask_secret

    return unwrap(said["wrapped"], ask_secret("Passphrase of the record: ", "repeat the command in a terminal"))


def run_command(command: Sequence[str]) -> str:
    """Return the first line that the command which has the key writes. Raises ``ERR_KEY``."""
    advice = "run it by hand: it has to write the key, or the passphrase, as its first line"
    try:
        done = subprocess.run(
            list(command), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, timeout=_SECONDS, check=True
        )
    except (OSError, subprocess.SubprocessError) as error:
        reason = error.strerror if isinstance(error, OSError) else type(error).__name__
        raise FabulaError("ERR_KEY", f"record.key_command ({command[0]}) gave no key: {reason}", advice) from error
    lines = done.stdout.decode("utf-8", "replace").splitlines()
    if not lines or not lines[0].strip():
        raise FabulaError("ERR_KEY", f"record.key_command ({command[0]}) wrote nothing", advice)
    return lines[0].strip()


def key_from_files(files: Sequence[Path], said: Mapping[str, Any]) -> bytes | None:
    """Return the key in the first of the files that is there; ``None`` when none is. Raises ``ERR_KEY``."""
    for file in files:
        try:
            text = file.read_text("utf-8", "replace")
        except FileNotFoundError:
            continue
        except OSError as error:
            raise FabulaError("ERR_KEY", f"{file}: {error.strerror}", f"make it readable: {file}") from error
        return _as_key(text.strip(), said, str(file))
    return None


def _as_key(text: str, said: Mapping[str, Any], where: str) -> bytes:
    key = from_text(text)
    if key is not None:
        return key
    if said.get("wrapped"):
        return unwrap(said["wrapped"], text)
    raise FabulaError("ERR_KEY", f"{where}: this is no key, which has 64 hexadecimal digits", f"correct {where}")
