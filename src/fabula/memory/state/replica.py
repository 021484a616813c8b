"""Who writes here: the name of this work tree among all machines that share a corpus.

The name is drawn once and kept in ``.fabula/log/replica`` together with the number of that very file (its inode): a
folder that was copied has another number and gets a name of its own, so that two copies never write one log.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from typing import TYPE_CHECKING

from fabula.storage.files import PRIVATE_FILE, disk_errors, ensure_folder
from fabula.storage.locks import FileLock

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

NAME_BYTES = 6
_WAIT_SECONDS = 5.0


def known_replica(file: Path) -> str | None:
    """Return the name that is kept here; ``None`` when there is none, or when it was copied from elsewhere."""
    try:
        with file.open("rb") as stream:
            said = json.loads(stream.read(200))
            number = os.fstat(stream.fileno()).st_ino
    except (OSError, ValueError):
        return None
    name = said.get("replica") if isinstance(said, dict) else None
    is_ours = isinstance(name, str) and len(name) == 2 * NAME_BYTES and name.isalnum() and said.get("file") == number
    return name if is_ours else None


def replica_of(file: Path, entropy: Callable[[int], bytes]) -> str:
    """Return the name of this work tree, drawn when there is none yet. Raises ``ERR_READ_ONLY``, ``ERR_DISK``."""
    name = known_replica(file)
    if name is not None:
        return name
    ensure_folder(file.parent)
    with FileLock(file.with_name("replica.lock"), _WAIT_SECONDS), disk_errors(file):
        return known_replica(file) or _draw(file, entropy)


def _draw(file: Path, entropy: Callable[[int], bytes]) -> str:
    name = entropy(NAME_BYTES).hex()
    temporary = file.with_name(f"replica.{os.getpid()}")
    with suppress(FileNotFoundError):
        temporary.unlink()
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, PRIVATE_FILE)
    try:
        os.write(handle, json.dumps({"replica": name, "file": os.fstat(handle).st_ino}).encode() + b"\n")
        os.fsync(handle)
    finally:
        os.close(handle)
    temporary.replace(file)
    return name
