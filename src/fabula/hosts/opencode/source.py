"""The sessions of OpenCode: rows of its database, and the JSON files that older versions wrote."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from fabula.hosts.fields import text_of
from fabula.hosts.walking import Walker, source_file

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fabula.hosts.opencode.roots import OpenCodeRoots
    from fabula.hosts.row_sessions import Versions
    from fabula.kernel.records import SourceFile
    from fabula.record.sources import Container, Normaliser

OBJECT_LIMIT = 8 << 20  # bytes of a stored session or message that are read for its parts


class OpenCodeSource:
    """What one OpenCode data folder holds (``record.sources.Source``)."""

    host = "opencode"

    def __init__(self, roots: OpenCodeRoots) -> None:
        self.roots = roots
        self._walker = Walker()
        self._versions: Versions | None = None  # made when there is a database
        self._session_files: dict[str, str] = {}
        self._stored: dict[str, dict[str, Any]] = {}

    def discover(self) -> Iterator[SourceFile]:
        """Find the sessions of the database by one look at their signatures, then the older files by name."""
        self._walker = Walker()
        self._session_files = {}
        self._stored = {}
        yield from self._database_sessions()
        owners: dict[str, str] = {}  # message -> session
        for kind in ("session", "message", "part"):
            for path, found in self._walker.files(str(self.roots.storage / kind), (".json",)):
                folder, name = os.path.split(path[: -len(".json")])
                above = os.path.basename(folder)
                session = name if kind == "session" else above if kind == "message" else owners.get(above, "")
                if kind == "session":
                    self._session_files[name] = path
                elif kind == "message":
                    owners[name] = session
                yield source_file(self.host, path, f"stored-{kind}", session, found)

    def problems(self) -> list[tuple[str, str]]:
        """Return (path, reason) of what the last discovery could not look into."""
        return self._walker.problems

    def container(self, file: SourceFile) -> Container:
        """Open a file's byte form."""
        if file.kind.startswith("stored-"):
            from fabula.record.containers.document import JsonDocument

            return JsonDocument(file.path, "")
        database, _, session = file.path.rpartition("#")
        from fabula.hosts.opencode.database import session_rows
        from fabula.record.containers.rows import SessionRows

        return SessionRows(database, session, session_rows)

    def normaliser(self, file: SourceFile, state: dict[str, Any] | None) -> Normaliser:
        """Return the reader of a file's values."""
        from fabula.hosts.opencode.normaliser import OpenCodeNormaliser

        return OpenCodeNormaliser(file, state, self._stored_object)

    def _database_sessions(self) -> Iterator[SourceFile]:
        path = str(self.roots.database)
        found = self._walker.one(path)
        if found is None:
            return
        if self._versions is None:
            from fabula.hosts.opencode.database import session_versions
            from fabula.hosts.row_sessions import Versions

            self._versions = Versions(path, session_versions)
        yield from self._versions.files(self.host, found.st_ino, self._walker)

    def _stored_object(self, session: str, message: str) -> dict[str, Any]:
        """Return the stored session, or one of its messages, that a stored part belongs to; empty when it is gone."""
        key = message or session
        known = self._stored.get(key)
        if known is None:
            beside = self.roots.storage / "message" / session / f"{message}.json"
            known = self._stored[key] = _read_object(beside if message else self._session_files.get(session, ""))
        return known


def _read_object(path: str | os.PathLike[str]) -> dict[str, Any]:
    try:
        with open(path, "rb") as file:
            value = json.loads(file.read(OBJECT_LIMIT))
    except (OSError, ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) and text_of(value, "id") else {}
