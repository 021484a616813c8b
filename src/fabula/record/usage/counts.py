"""How much the map holds: counts in a window, by host and by day, project or model; API responses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fabula.kernel.values import frozen
from fabula.record.usage.prices import Tokens
from fabula.record.usage.summary import Response

if TYPE_CHECKING:
    from collections.abc import Iterator

    import apsw

    from fabula.record.reading.catalogue import Window


@frozen
class Counts:
    """What a part of the record holds. Times in ms."""

    key: str
    sessions: int
    subagents: int
    threads: int
    records: int
    first_time: int | None
    last_time: int | None


@frozen
class MapCounts:
    """Counts of the whole map, whatever the window. ``copies`` are further copies of records that are kept once."""

    files: int
    vanished: int
    copies: int
    paths: int
    failures: int
    resolved: int
    searchable_characters: int


_GROUP = {
    "host": "s.host",
    "project": "coalesce(p.label, '')",
    "day": "coalesce(strftime('%Y-%m-%d', s.first_time / 1000, 'unixepoch'), '')",
    "all": "'all'",
}


def counts_by(connection: apsw.Connection, window: Window, by: str) -> list[Counts]:
    """Return counts by ``host``, ``project``, ``day`` (of a session's first record) or ``all`` in one line."""
    where, values = _condition(window, "s.first_time")
    statement = f"""select {_GROUP[by]} as grouped, count(*), sum(s.kind in ('subagent', 'compaction')),
        sum((select count(*) from threads t where t.session_id = s.id)), sum(s.records),
        min(s.first_time), max(s.last_time)
        from sessions s left join projects p on p.id = s.project_id where {where} and s.records > 0
        group by 1 order by {"1" if by == "day" else "sum(s.records) desc, 1"}"""
    return [
        Counts(str(row[0]) or "unknown", row[1] - row[2], row[2], row[3], row[4], row[5], row[6])
        for row in _rows(connection, statement, values)
    ]


#: Earlier states of a file are rows of their own; of the live one, which has the least number, the rest is taken.
_EACH_FILE = "select min(generation), vanished_at from files group by host, path"


def totals(connection: apsw.Connection) -> tuple[int, int, int, int]:
    """Return how many sessions (without those of subagents), threads, records and files the whole map holds."""
    row: Any = connection.execute(
        "select (select count(*) from sessions where records > 0 and kind not in ('subagent', 'compaction')),"
        " (select count(*) from threads), (select count(*) from records),"
        f" (select count(*) from ({_EACH_FILE}))"
    ).fetchone()
    sessions, threads, records, files = row
    return sessions, threads, records, files


def map_counts(connection: apsw.Connection) -> MapCounts:
    """Count what is not part of sessions."""

    def number(statement: str) -> int:
        (value,) = connection.execute(statement).fetchone() or (0,)
        return int(str(value or 0))

    return MapCounts(
        number(f"select count(*) from ({_EACH_FILE})"),
        number(f"select count(vanished_at) from ({_EACH_FILE})"),
        number("select count(*) from copies"),
        number("select count(*) from paths"),
        number("select count(*) from failures"),
        number("select count(resolved_by) from failures"),
        number("select value from meta where key = 'searchable_characters'"),
    )


def responses(connection: apsw.Connection, window: Window) -> Iterator[Response]:
    """Yield every API response of a window, once each."""
    where, values = _condition(window, "a.time")
    statement = f"""select a.model, coalesce(p.label, ''), s.host, a.time,
        a.input, a.output, a.cache_read, a.cache_write
        from responses a join sessions s on s.id = a.session_id left join projects p on p.id = s.project_id
        where {where}"""
    for model, project, host, time, *tokens in _rows(connection, statement, values):
        yield Response(model, project, host, time, Tokens(*tokens))


def _rows(connection: apsw.Connection, statement: str, values: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    yield from connection.execute(statement, values)


def _condition(window: Window, time: str) -> tuple[str, tuple[Any, ...]]:
    parts: list[str] = ["1"]
    values: list[Any] = []
    if window.projects is not None:
        parts.append(f"s.project_id in ({','.join('?' * len(window.projects))})")
        values += window.projects
    if window.since is not None:
        parts.append(f"{time} >= ?")
        values.append(window.since)
    if window.until is not None:
        parts.append(f"{time} < ?")
        values.append(window.until)
    return " and ".join(parts), tuple(values)
