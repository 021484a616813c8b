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
        walker = self._walker = Walker()
        for workspace in walker.entries(str(self.home / "chats")):
            for chat in walker.entries(workspace.path) if workspace.is_dir() else ():
                path = f"{chat.path}{os.sep}{STORE}"
                found = walker.one(path) if chat.is_dir() else None
                if found is None:
                    continue
                log = walker.one(f"{path}-wal")
                size, written = (log.st_size, log.st_mtime_ns) if log is not None else (0, 0)
                yield SourceFile(
                    self.host, f"{path}#{chat.name}", "session", chat.name,
                    found.st_size + size, found.st_mtime_ns, written, found.st_ino,
                )  # fmt: skip
                path = f"{chat.path}{os.sep}{SIDECAR}"
                found = walker.one(path)
                if found is not None:
                    yield source_file(self.host, path, "meta", chat.name, found)

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
