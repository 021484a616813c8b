"""The fact that a blob holds, read from git once each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.memory.format.reader import read

if TYPE_CHECKING:
    from fabula.memory.format.reader import Reading
    from fabula.storage.git.reader import Reader


class Facts:
    """Readings of blobs. A file that is no memory has no fact; two such files are one only with the same bytes."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._known: dict[str, Reading | None] = {}

    def reading(self, blob: str) -> Reading | None:
        """Return a blob as a memory, ``None`` where the repository does not hold it."""
        if blob not in self._known:
            found = self._reader.get(blob) if blob else None
            self._known[blob] = read(found[2]) if found is not None and found[1] == "blob" else None
        return self._known[blob]

    def name(self, blob: str) -> str | None:
        """Return a name for the fact of a blob: equal names are one fact."""
        reading = self.reading(blob)
        if reading is None:
            return None
        return reading.fact_hash if reading.is_memory else f"blob {blob}"
