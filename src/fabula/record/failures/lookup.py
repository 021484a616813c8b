"""The map's failures: occurrences of a signature, and the errors met most often."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fabula.kernel.ids import unpack_id
from fabula.kernel.values import frozen
from fabula.record.reading.catalogue import window_condition

if TYPE_CHECKING:
    from collections.abc import Sequence

    import apsw

    from fabula.record.reading.catalogue import Window

MOST_SIGNATURES = 50_000  # compared with a text that has no exact match, newest first


@frozen
class FailureRow:
    """One failed result. ``record_row`` and ``resolved_row`` are the map's record ids; times in ms."""

    signature: str
    message: str
    tool: str
    subject: str
    time: int | None
    record_row: int
    record: str
    thread: str
    session_row: int
    session: str
    host: str
    project: str
    resolved_row: int | None


@frozen
class FrequentRow:
    """One error and how often it was met and resolved; ``last`` is its newest occurrence."""

    signature: str
    count: int
    resolved: int
    sessions: int
    last: FailureRow


_FAILURE = """
select f.signature, f.message, f.tool, f.subject, f.time, f.record_id, r.uid, t.uid, s.id, s.uid, s.host,
       coalesce(p.label, ''), f.resolved_by
  from failures f join records r on r.id = f.record_id join sessions s on s.id = r.session_id
  left join threads t on t.id = f.thread_id left join projects p on p.id = s.project_id
"""


def occurrences(connection: apsw.Connection, signature: str, window: Window, limit: int) -> list[FailureRow]:
    """Return the failures with a signature: those that were resolved first, then the newest."""
    where, values = _condition(window)
    order = "order by f.resolved_by is null, f.time desc, f.id desc limit ?"
    statement = f"{_FAILURE} where f.signature = ? and {where} {order}"
    return [_failure(row) for row in connection.execute(statement, (signature, *values, limit))]


def newest(connection: apsw.Connection, window: Window, limit: int) -> list[FailureRow]:
    """Return the newest failures."""
    where, values = _condition(window)
    statement = f"{_FAILURE} where {where} order by f.time desc, f.id desc limit ?"
    return [_failure(row) for row in connection.execute(statement, (*values, limit))]


def signatures(connection: apsw.Connection, window: Window) -> list[str]:
    """Return the distinct signatures of a window, the newest first."""
    where, values = _condition(window)
    statement = f"""select f.signature from failures f join records r on r.id = f.record_id
        join sessions s on s.id = r.session_id where {where}
        group by f.signature order by max(f.time) desc limit {MOST_SIGNATURES}"""
    return [str(signature) for (signature,) in connection.execute(statement, values)]


def most_frequent(connection: apsw.Connection, window: Window, limit: int) -> list[FrequentRow]:
    """Return the errors met most often, the more recent first among equals."""
    where, values = _condition(window)
    statement = f"""select f.signature, count(*), count(f.resolved_by), count(distinct r.session_id)
        from failures f join records r on r.id = f.record_id join sessions s on s.id = r.session_id
        where {where} group by f.signature order by count(*) desc, max(f.time) desc, f.signature limit ?"""
    found: list[FrequentRow] = []
    for signature, count, resolved, sessions in connection.execute(statement, (*values, limit)).fetchall():
        last = connection.execute(
            f"{_FAILURE} where f.signature = ? and {where} order by f.time desc, f.id desc limit 1",
            (signature, *values),
        ).fetchone()
        if last is not None:
            found.append(
                FrequentRow(str(signature), _number(count), _number(resolved), _number(sessions), _failure(last))
            )
    return found


def _number(value: Any) -> int:
    return int(value)


def _condition(window: Window) -> tuple[str, tuple[object, ...]]:
    return window_condition(window, [], since="f.time", until="f.time")


def _failure(row: Sequence[Any]) -> FailureRow:
    signature, message, tool, subject, time, record_row, record, thread, session_row, session, host, project, end = row
    return FailureRow(
        signature, message, tool, subject, time, record_row, unpack_id(record),
        "" if thread is None else unpack_id(thread), session_row, unpack_id(session), host, project, end,
    )  # fmt: skip
