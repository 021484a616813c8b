"""Writing and taking out the rows of one memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from fabula.memory.index.projection import COLUMNS, folded
from fabula.memory.index.schema import ARCHIVED_TEXT, LIVE_TEXT, TEXT_COLUMNS

if TYPE_CHECKING:
    import apsw

    from fabula.memory.index.projection import Projected, Unserved

_FILE: Final = (
    f"insert into files(id, path, blob, dirty, {', '.join(COLUMNS)}) values({', '.join('?' * (4 + len(COLUMNS)))})"
)
_TEXT: Final = {
    is_archived: f"insert into {table}(rowid, {', '.join(name for name, _ in TEXT_COLUMNS)}) "
    f"values({', '.join('?' * (1 + len(TEXT_COLUMNS)))})"
    for is_archived, table in ((False, LIVE_TEXT), (True, ARCHIVED_TEXT))
}


def insert(connection: apsw.Connection, file_id: int, path: str, blob: str, dirty: bool, rows: Projected) -> None:
    """Write a memory that has no rows yet."""
    execute, many = connection.execute, connection.executemany
    execute(_FILE, (file_id, path, blob, int(dirty), *rows.values))
    execute("insert into texts values(?, ?, ?, ?)", (file_id, *rows.texts))
    execute(_TEXT[rows.is_archived], (file_id, *rows.full_text))
    if rows.tags:
        many("insert into tags values(?, ?, ?)", [(file_id, tag, folded(tag)) for tag in rows.tags])
    if rows.entities:
        found = [(file_id, entity.type, entity.name, folded(str(entity))) for entity in rows.entities]
        many("insert into entities values(?, ?, ?, ?)", found)
    if rows.aliases:
        many("insert into aliases values(?, ?)", [(file_id, alias) for alias in rows.aliases])
    if rows.facets:
        facets = [(file_id, name, value, number, folded(f"{name}={value}")) for name, value, number in rows.facets]
        many("insert into facets values(?, ?, ?, ?, ?)", facets)
    if rows.citations:
        cited = [(file_id, ordinal, *one) for ordinal, one in enumerate(rows.citations)]
        many("insert into citations values(?, ?, ?, ?, ?, ?)", cited)
    if rows.edges:
        many("insert into edges values(?, ?, ?)", [(file_id, *edge) for edge in rows.edges])


def delete(connection: apsw.Connection, file_id: int) -> None:
    """Take out all rows of a memory, and what was wrong with its file."""
    found = connection.execute("select archived from files where id = ?", (file_id,)).fetchone()
    if found is not None:
        table = ARCHIVED_TEXT if found[0] else LIVE_TEXT
        connection.execute(f"delete from {table} where rowid = ?", (file_id,))
        connection.execute("delete from files where id = ?", (file_id,))
    connection.execute("delete from problems where file_id = ?", (file_id,))


def insert_problem(connection: apsw.Connection, file_id: int, why: Unserved) -> None:
    """Write why nothing is served from a file."""
    connection.execute(
        "insert into problems values(?, ?, ?, ?, ?, ?)",
        (file_id, why.kind, why.message, why.fix, why.line, why.column),
    )
