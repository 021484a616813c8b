"""The sessions of Goose: rows of its database, and the files of JSON lines that older versions wrote."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fabula.hosts.walking import Walker, source_file

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from fabula.hosts.row_sessions import Versions
    from fabula.kernel.records import SourceFile
    from fabula.record.sources import Container, Normaliser


class GooseSource:
    """What lies in ``sessions`` below one Goose data folder (``record.sources.Source``)."""

    host = "goose"

    def __init__(self, data: Path) -> None:
        self.folder = data / "sessions"
        self._walker = Walker()
        self._versions: Versions | None = None  # made when there is a database

    def discover(self) -> Iterator[SourceFile]:
        """Find the sessions of the database by one look at their signatures, then the older files by name."""
        self._walker = Walker()
        stored: set[str] = set()
        for file in self._database_sessions():
            stored.add(file.session)
            yield file
        for entry in self._walker.entries(str(self.folder)):
            found = self._walker.one(entry.path) if entry.name.endswith(".jsonl") else None
            if found is not None:
                session = entry.name.removesuffix(".jsonl")
                kind = "imported" if session in stored else "session"
                yield source_file(self.host, entry.path, kind, session, found)

    def problems(self) -> list[tuple[str, str]]:
        """Return (path, reason) of what the last discovery could not look into."""
        return self._walker.problems

    def container(self, file: SourceFile) -> Container:
        """Open a file's byte form."""
        if file.path.endswith(".jsonl"):
            from fabula.record.containers.jsonl import JsonLines

            return JsonLines(file.path)
        from fabula.hosts.goose.database import session_rows
        from fabula.record.containers.rows import SessionRows

        database, _, session = file.path.rpartition("#")
        return SessionRows(database, session, session_rows)

    def normaliser(self, file: SourceFile, state: dict[str, Any] | None) -> Normaliser:
        """Return the reader of a file's values."""
        from fabula.hosts.goose.normaliser import GooseNormaliser

        return GooseNormaliser(file, state)

    def _database_sessions(self) -> Iterator[SourceFile]:
        path = str(self.folder / "sessions.db")
        found = self._walker.one(path)
        if found is None:
            return
        if self._versions is None:
            from fabula.hosts.goose.database import session_versions
            from fabula.hosts.row_sessions import Versions

            self._versions = Versions(path, session_versions)
        yield from self._versions.files(self.host, found.st_ino, self._walker)
