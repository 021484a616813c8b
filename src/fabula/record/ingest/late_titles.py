"""Titles that name a record which no scan has mapped yet: kept in the map until the record comes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    import apsw

LIMIT = 1_000  # titles that wait; the oldest go first
_KEY = "late_titles"


class LateTitle(NamedTuple):
    """A title for the session that holds the record ``leaf``."""

    leaf: str
    title: str
    rank: int


def waiting_titles(connection: apsw.Connection) -> list[LateTitle]:
    """Return what earlier scans could not give to anybody, the oldest first."""
    row = connection.execute("select value from meta where key=?", (_KEY,)).fetchone()
    return [LateTitle(*each) for each in json.loads(str(row[0]))] if row else []


def keep_waiting(connection: apsw.Connection, titles: Sequence[LateTitle]) -> None:
    """Write down what still waits; the caller holds the transaction."""
    value = json.dumps(list(dict.fromkeys(titles))[-LIMIT:])
    connection.execute("insert or replace into meta(key,value) values(?,?)", (_KEY, value))
