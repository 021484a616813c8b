"""What a client left behind, read by no code of Fabula: a file of JSON lines, or the rows of a session."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from fabula.testing.reference import reference_count

if TYPE_CHECKING:
    from collections.abc import Iterator


class Transcript(Protocol):
    """One transcript; its name is the path under which the record knows it."""

    name: str
    session: str  # the id of the session that it names, "" for a subagent's

    def count(self) -> tuple[int, int]:
        """Return (objects, recovered) by the reference count."""
        ...

    def size(self) -> int | None:
        """Return the bytes on disk, ``None`` where there are none of its own."""
        ...

    def holds(self, block: bytes) -> bool:
        """Say whether the bytes of a record stand in the transcript as they are."""
        ...

    def is_same(self, restored: bytes) -> bool:
        """Say whether restored bytes are the transcript, whole."""
        ...

    def remove(self) -> None:
        """Delete it, as a client or a person does."""
        ...


class FileTranscript:
    """A file of JSON lines."""

    def __init__(self, path: Path) -> None:
        self.name = str(path)
        self._path = path
        self._data = path.read_bytes()
        self._lines = frozenset(self._data.splitlines())
        self.session = self._session()

    def _session(self) -> str:
        """Return the id that the file's name, its folder's name or its first line gives."""
        path = self._path
        if "subagents" in path.parts:
            return ""
        if path.name == "events.jsonl":
            return path.parent.name
        if path.name == "wire.jsonl":
            return path.parents[2].name if path.parent.name == "main" else ""
        head = json.loads(self._data.split(b"\n", 1)[0])
        named = head.get("sessionId") if "chats" in path.parts else None
        return named if isinstance(named, str) else path.stem[-36:]

    def count(self) -> tuple[int, int]:
        """Count values line by line."""
        return reference_count(self.name)

    def size(self) -> int | None:
        """Return the file's size."""
        return len(self._data)

    def holds(self, block: bytes) -> bool:
        """Say whether a line is these bytes."""
        return block in self._lines

    def is_same(self, restored: bytes) -> bool:
        """Compare bytes."""
        return restored == self._data

    def remove(self) -> None:
        """Delete the file."""
        self._path.unlink()


class DatabaseSession:
    """The rows of one session in a client's database."""

    def __init__(self, database: Path, session: str, rows: list[tuple[str, dict[str, Any]]]) -> None:
        self.name = f"{database}#{session}"
        first = rows[0][1]
        self.session = "" if first.get("parent_id") or first.get("parent_session_id") else session
        self._database = database
        self._rows = rows

    @classmethod
    def all_in(cls, database: Path, sessions: str, *others: str) -> Iterator[DatabaseSession]:
        """Read every session of a database, if there is one: its row, and its rows in the other tables."""
        if not database.exists():
            return
        connection = sqlite3.connect(database)
        connection.row_factory = sqlite3.Row
        try:
            for session in connection.execute(f"select * from {sessions}").fetchall():
                rows = [(sessions, dict(session))]
                for table in others:
                    found = connection.execute(f"select * from {table} where session_id=?", (session["id"],))
                    rows += [(table, dict(row)) for row in found]
                yield cls(database, session["id"], rows)
        finally:
            connection.close()

    def count(self) -> tuple[int, int]:
        """Count rows."""
        return len(self._rows), 0

    def size(self) -> int | None:
        """Return ``None``: rows have no bytes of their own on disk."""
        return None

    def holds(self, block: bytes) -> bool:
        """Say whether what a row says is these bytes."""
        return any(block.decode() in (row.get("data"), row.get("content_json")) for _, row in self._rows)

    def is_same(self, restored: bytes) -> bool:
        """Compare rows, whatever their order."""
        rows = [_row(line) for line in restored.splitlines()]
        return len(rows) == len(self._rows) and all(row in self._rows for row in rows)

    def remove(self) -> None:
        """Delete the database and its log."""
        for path in self._database.parent.glob(self._database.name + "*"):
            path.unlink()


def _row(line: bytes) -> tuple[str, dict[str, Any]]:
    """Read a sealed line: ``{"row": {column: value}, "table": name}``, a real as ``{"real": text}``."""
    value = json.loads(line)
    row = {name: float(item["real"]) if isinstance(item, dict) else item for name, item in value["row"].items()}
    return value["table"], row
