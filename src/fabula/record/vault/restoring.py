"""Writing a generation back as a file."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

from fabula.storage.files import PRIVATE_FILE, disk_errors, sync_folder

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


def without_holes(data: bytes, holes: Iterable[tuple[int, int]]) -> bytes:
    """Return a file's bytes without spans that were forgotten, and without the line ends that these would leave alone.

    ``data`` has any bytes where the holes are.
    """
    parts, position = [], 0
    for offset, length in holes:
        parts.append(data[position:offset])
        position = offset + length
        line_begins = offset == 0 or data[offset - 1 : offset] == b"\n"
        if line_begins and data[position : position + 1] == b"\n":
            position += 1
    return b"".join([*parts, data[position:]])


def restore(pieces: Iterable[bytes], out: Path) -> int:
    """Write ``pieces`` to ``out`` atomically and return how many bytes it has. Raises ``ERR_DISK``, ``ERR_READ_ONLY``.

    ``out`` appears when all of it is durable; an error on the way, of reading too, leaves what was there.
    """
    temporary = out.with_name(f".{out.name}.{os.getpid()}.tmp")
    size = 0
    with disk_errors(out):
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_NOFOLLOW", 0), PRIVATE_FILE)
        try:
            with os.fdopen(handle, "wb") as stream:
                for piece in pieces:
                    size += stream.write(piece)
                stream.flush()
                os.fsync(stream.fileno())
            temporary.replace(out)
        except BaseException:
            with suppress(OSError):
                temporary.unlink()
            raise
        sync_folder(out.parent)
    return size
