"""A builder of OpenCode's database, row by row, as a running client leaves it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import apsw

if TYPE_CHECKING:
    from pathlib import Path

_SCHEMA = """
create table session(id text primary key, project_id text, parent_id text, directory text, title text, revert text,
  cost real, time_created integer, time_updated integer);
create table message(id text primary key, session_id text, time_created integer, time_updated integer, data text);
create table part(id text primary key, message_id text, session_id text, time_created integer, time_updated integer,
  data text);
create index part_message on part(message_id, id);
create index part_session on part(session_id);
"""
_BEGIN = 1_772_359_200_000


class OpenCodeDatabase:
    """A database in WAL mode that its owner has open; every row is a little later than the one before."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path = path
        self.connection = apsw.Connection(str(path))
        self.connection.execute("pragma journal_mode=wal")
        self.connection.execute(_SCHEMA)
        self.clock = _BEGIN

    def session(
        self,
        key: str,
        title: str = "Harbour",
        *,
        directory: str = "/home/ada/lib",
        parent: str | None = None,
        revert: dict[str, str] | None = None,
    ) -> None:
        """Add a session; ``revert`` is the mark behind which everything was undone."""
        now = self._now()
        undone = None if revert is None else json.dumps(revert)
        row = (key, "prj", parent, directory, title, undone, 0.25, now, now)
        self.connection.execute("insert into session values(?,?,?,?,?,?,?,?,?)", row)

    def message(self, key: str, session: str, role: str, **data: Any) -> None:
        """Add a message or replace it."""
        now = self._now()
        row = (key, session, now, now, json.dumps({"role": role, **data}))
        self.connection.execute("insert or replace into message values(?,?,?,?,?)", row)

    def part(self, key: str, message: str, session: str, **data: Any) -> None:
        """Add a part or replace it."""
        now = self._now()
        row = (key, message, session, now, now, json.dumps(data))
        self.connection.execute("insert or replace into part values(?,?,?,?,?,?)", row)

    def close(self) -> None:
        """Close the database, as the client does when it ends."""
        self.connection.close()

    def _now(self) -> int:
        self.clock += 1
        return self.clock
