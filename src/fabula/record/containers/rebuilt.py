"""Making a database again from the lines that its rows were sealed as."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import apsw

from fabula.record.containers.rows import Shared, as_os_error, read_line
from fabula.storage.files import PRIVATE_FILE

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fabula.record.containers.rows import Value


def rebuild_database(lines: Iterable[bytes], path: str) -> int:
    """Write a new database with the tables and rows that ``lines`` hold; return how many rows.

    Columns have no declared types, so every value comes back as it was read. Raises ``OSError`` when ``path`` exists
    or cannot be written, ``ValueError`` for a line that is no row.
    """
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, PRIVATE_FILE))
    columns: dict[str, list[str]] = {}
    count = 0
    with as_os_error(path):
        connection = apsw.Connection(path)
        try:
            with connection:
                for line in lines:
                    table, row = read_line(line)
                    _widen(connection, table, list(row), columns)
                    row = {name: _whole(connection, table, name, value) for name, value in row.items()}
                    marks = ",".join("?" * len(row))
                    named = ",".join(map(_quoted, row))
                    values = f"({named}) values({marks})" if row else "default values"
                    connection.execute(f"insert into {_quoted(table)} {values}", tuple(row.values()))
                    count += 1
        finally:
            connection.close()
    return count


def _widen(connection: apsw.Connection, table: str, names: list[str], columns: dict[str, list[str]]) -> None:
    """Make a table, or the columns that a further row has more."""
    known = columns.get(table)
    if known is None:
        known = columns[table] = names or ["nothing"]
        connection.execute(f"create table {_quoted(table)}({','.join(map(_quoted, known))})")
    for name in names:
        if name not in known:
            connection.execute(f"alter table {_quoted(table)} add column {_quoted(name)}")
            known.append(name)


def _whole(connection: apsw.Connection, table: str, column: str, value: Value) -> Any:
    """Return a value as the database held it: one that leans on an earlier row is put together."""
    if not isinstance(value, Shared):
        return value
    sql = (
        f"select {_quoted(column)} from {_quoted(table)} where rowid = (select count(*) from {_quoted(table)}) + 1 - ?"
    )
    found = connection.execute(sql, (value.back,)).fetchone()
    if found is None or not isinstance(found[0], bytes) or len(found[0]) < value.length:
        raise ValueError(f"a row of {table} leans on one that is not there")
    return found[0][: value.length] + value.rest


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
