"""The few values that say how far the index is."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    import apsw

HEAD = "head"  # the commit that the rows are of, '' for none yet; missing: nothing was indexed
REVISION = "revision"  # grows with every change
IGNORING = "ignoring"  # what the files that say what git ignores looked like


def value_of(connection: apsw.Connection, key: str) -> str | int | None:
    """Return a value, ``None`` where there is none."""
    found = connection.execute("select value from meta where key = ?", (key,)).fetchone()
    if found is None:
        return None
    value: str | int | None = found[0]
    return value


def keep(connection: apsw.Connection, values: Mapping[str, str | int]) -> None:
    """Write some values."""
    connection.executemany("insert or replace into meta values(?, ?)", list(values.items()))


def revision_of(connection: apsw.Connection) -> int:
    """Return the number that grows with every change; 0 before the first."""
    return int(value_of(connection, REVISION) or 0)
