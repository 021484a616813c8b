"""The chats of Cursor's command line: a database each, and the note that newer versions keep beside it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from fabula.hosts.walking import Walker, source_file
from fabula.kernel.records import SourceFile

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from fabula.record.sources import Container, Normaliser

STORE, SIDECAR = "store.db", "meta.json"


class CursorSource:
    """What lies in ``chats`` below one ``.cursor`` folder (``record.sources.Source``)."""

    host = "cursor"

    def __init__(self, home: Path) -> None:
        self.home = home
        self._walker = Walker()

    def discover(self) -> Iterator[SourceFile]:
        """Find every workspace's chats by the stats of their databases and logs; none is opened."""
        self._walker = Walker()
        for workspace in self._walker.entries(str(self.home / "chats")):
            for chat in self._walker.entries(workspace.path) if workspace.is_dir() else ():
                if chat.is_dir():
                    yield from self._chat(chat.path, chat.name)

    def problems(self) -> list[tuple[str, str]]:
        """Return (path, reason) of what the last discovery could not look into."""
        return self._walker.problems

    def container(self, file: SourceFile) -> Container:
        """Open a file's byte form."""
        if file.kind == "meta":
            from fabula.record.containers.document import JsonDocument

            return JsonDocument(file.path, "")
        from fabula.hosts.cursor.store import chat_rows
        from fabula.record.containers.rows import SessionRows

        database, _, session = file.path.rpartition("#")
        return SessionRows(database, session, chat_rows)

    def normaliser(self, file: SourceFile, state: dict[str, Any] | None) -> Normaliser:
        """Return the reader of a file's values."""
        if file.kind == "meta":
            from fabula.hosts.cursor.sidecar import SidecarNormaliser

            return SidecarNormaliser(file, state)
        from fabula.hosts.cursor.normaliser import CursorNormaliser

        return CursorNormaliser(file, state)

    def _chat(self, folder: str, session: str) -> Iterator[SourceFile]:
        path = os.path.join(folder, STORE)
        found = self._walker.one(path)
        if found is None:
            return
        log = self._walker.one(path + "-wal")
        size, written = (log.st_size, log.st_mtime_ns) if log is not None else (0, 0)
        yield SourceFile(
            self.host, f"{path}#{session}", "session", session,
            found.st_size + size, found.st_mtime_ns, written, found.st_ino,
        )  # fmt: skip
        path = os.path.join(folder, SIDECAR)
        noted = self._walker.one(path)
        if noted is not None:
            yield source_file(self.host, path, "meta", session, noted)
