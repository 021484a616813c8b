"""A file that is one value: a tool's output kept beside a transcript, a backup, a small document."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from fabula.record.containers.jsonl import open_regular
from fabula.record.sources import Chunk, Found

if TYPE_CHECKING:
    from collections.abc import Iterator

#: A longer file becomes several values, cut at line ends where it has any.
PIECE_BYTES = 8 << 20
_PROBE_BYTES = 8 << 10


class WholeFile:
    """A container whose values are ``{"text": …}``; a file with NUL bytes in its head has no text.

    What is appended to a file read before becomes a value of its own. Nothing ever waits.
    """

    def __init__(self, path: str, piece_bytes: int = PIECE_BYTES) -> None:
        self.path = path
        self.waiting = 0
        self.tail = b""
        self._piece_bytes = piece_bytes

    def chunks(self, start: int = 0) -> Iterator[Chunk]:
        """Yield the file's pieces from ``start``, up to the size it has now. Raises ``OSError``."""
        with open_regular(self.path) as file:
            size = os.fstat(file.fileno()).st_size
            binary = start > 0 and b"\0" in (file.read(_PROBE_BYTES) or b"")
            while start < size:
                file.seek(start)
                data = file.read(min(self._piece_bytes, size - start)) or b""
                if not data:
                    return
                binary = binary or (start == 0 and b"\0" in data[:_PROBE_BYTES])
                if start + len(data) < size:
                    data = data[: data.rfind(b"\n") + 1] or data
                value = {"text": ""} if binary else self.decode(data)
                yield Chunk(start, data, [Found(start, len(data), value)])
                start += len(data)

    @staticmethod
    def decode(data: bytes) -> dict[str, str]:
        """Return the value that a piece of such a file is."""
        return {"text": "" if b"\0" in data[:_PROBE_BYTES] else data.decode("utf-8", "replace")}
