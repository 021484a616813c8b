"""What a killed rewriting leaves behind: a temporary file beside a transcript, named by a note in our own home.

The caller holds the writer lock, so a note that is there belongs to nobody who still works.
"""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

from fabula.storage.files import write_atomic

if TYPE_CHECKING:
    from pathlib import Path

_NOTE = "rewriting"


def note_temporary(home: Path, temporary: str) -> None:
    """Write down which temporary file is about to be made. Raises ``ERR_DISK``, ``ERR_READ_ONLY``."""
    write_atomic(home / _NOTE, os.fsencode(temporary))


def forget_temporary(home: Path) -> None:
    """Take the note away: the file has its place, or is gone."""
    with suppress(OSError):
        os.unlink(home / _NOTE)


def clear_leftovers(home: Path) -> None:
    """Remove the temporary file of a rewriting that was killed."""
    try:
        temporary = os.fsdecode((home / _NOTE).read_bytes())
    except OSError:
        return
    if temporary.endswith(".fabula-tmp"):
        with suppress(OSError):
            os.unlink(temporary)
    forget_temporary(home)
