"""An index in memory, with the real tables, projection and full text, for tests of the retrieval."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import apsw

from fabula.memory.format.document import write
from fabula.memory.format.template import Draft, document_of
from fabula.memory.index.projection import Projected, project
from fabula.memory.index.rows import delete, insert
from fabula.memory.index.schema import SCHEMA

if TYPE_CHECKING:
    from collections.abc import Iterable

DAY: Final = 86_400_000
NOW: Final = 1_780_272_000_000  # 2026-06-01


class Shelf:
    """Holds memories under their paths; ``stamp`` changes with every one."""

    def __init__(self) -> None:
        """Make the tables."""
        self.connection = apsw.Connection(":memory:")
        self.connection.execute(SCHEMA)
        self.connection.execute("insert into folders values(1, 'areas', 0)")
        self.changes = 0
        self.kept: list[tuple[str, bytes, bytes]] = []

    def stamp(self) -> tuple[str, int]:
        """Return what changes with every change."""
        return "shelf", self.changes

    def keep_vectors(self, rows: Iterable[tuple[str, bytes, bytes]]) -> None:
        """Keep vectors: (space, hash, vector)."""
        found = list(rows)
        self.kept += found
        self.connection.executemany("insert or replace into vectors values(?, ?, ?)", found)
        self.changes += 1

    def add(self, path: str, claim: str, **given: Any) -> str:
        """Put a memory there: by its claim and the fields of a draft."""
        given = {"title": claim, "type": "semantic", "at": "2026-05-01T00:00:00Z", **given}
        projected = project(path, write(document_of(Draft(claim=claim, **given))))
        if not isinstance(projected, Projected):
            raise TypeError(f"{path} is no memory: {projected}")
        self.connection.execute("insert into places(path, folder_id, mtime_ns, state) values(?, 1, 1, 0)", (path,))
        insert(self.connection, self.connection.last_insert_rowid(), path, "", False, projected)
        self.changes += 1
        return path

    def take(self, path: str) -> None:
        """Take a memory away."""
        (one,) = self.connection.execute("select id from places where path = ?", (path,)).fetchone() or (0,)
        delete(self.connection, one)
        self.connection.execute("delete from places where id = ?", (one,))
        self.changes += 1
