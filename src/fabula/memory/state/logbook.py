"""Writing entries: one append to a local log, without a database and without git."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.kernel.values import replace
from fabula.memory.state.entries import TEXT_LIMIT, encode
from fabula.memory.state.replica import known_replica, replica_of
from fabula.memory.state.sources import LOG
from fabula.storage.appending import append_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from fabula.kernel.clock import Clock
    from fabula.memory.state.entries import Entry

ID_BYTES = 8


class Logbook:
    """Appends to the local log of one corpus. Opens nothing until something is written."""

    def __init__(self, root: Path, clock: Clock, entropy: Callable[[int], bytes]) -> None:
        self._folder = root / LOG
        self._clock = clock
        self._entropy = entropy

    @property
    def folder(self) -> Path:
        """Where the log lies."""
        return self._folder

    def known(self) -> str:
        """Return this work tree's name; empty when it has none yet."""
        return known_replica(self._folder / "replica") or ""

    def replica(self) -> str:
        """Return this work tree's name, drawn when it has none. Raises ``ERR_READ_ONLY``, ``ERR_DISK``."""
        return replica_of(self._folder / "replica", self._entropy)

    def write(self, drafts: Sequence[Entry]) -> list[Entry]:
        """Give entries their time and ids, in their order, and append them as one piece; return them.

        Texts are cut to what a log takes. Raises ``ERR_READ_ONLY``, ``ERR_DISK``, ``ERR_PATH``, ``ERR_LOCKED``.
        """
        if not drafts:
            return []
        at = self._clock.now_ms()
        stem = f"{self.replica()}-{self._entropy(ID_BYTES).hex()}"
        entries = [
            replace(_cut(draft), id=draft.id or f"{stem}{number:04x}", at=draft.at or at)
            for number, draft in enumerate(drafts)
        ]
        append_lines(self._folder, b"".join(map(encode, entries)))
        return entries


def _cut(entry: Entry) -> Entry:
    return replace(entry, session=_line(entry.session), reader=_line(entry.reader), query=_line(entry.query))


def _line(text: str) -> str:
    """Return a text on one line, without what is no text, as long as a log takes it."""
    return " ".join(text.encode("utf-8", "replace").decode().split())[:TEXT_LIMIT]
