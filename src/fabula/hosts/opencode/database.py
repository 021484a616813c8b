"""The rows of OpenCode's database: which sessions there are, and the rows of one in a fixed order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.hosts.row_sessions import SessionVersion
from fabula.record.containers.rows import select_rows

if TYPE_CHECKING:
    from collections.abc import Iterator

    import apsw

    from fabula.record.containers.rows import Row

#: What changed in the rows of each session, told without reading a data column and, for the many parts, from an index
#: alone: parts change in place only while their message is the session's newest, or together with a new message. The
#: remainders keep sums within SQLite's integers.
_CHANGES = (
    "select session_id, count(*), max(time_updated), sum(time_updated % 1000000007) from message group by session_id",
    "select session_id, count(*), 0, 0 from part group by session_id",
    (
        "with newest as (select session_id, id, max(time_created) from message group by session_id)"
        " select newest.session_id, 0, max(part.time_updated), sum(part.time_updated % 1000000007)"
        " from newest join part on part.message_id = newest.id group by newest.session_id"
    ),
)
_SESSIONS = "select id, time_updated from session order by time_created, id"


def session_versions(connection: apsw.Connection) -> list[SessionVersion]:
    """Return the sessions with the signatures of their rows."""
    parented = "parent_id" in {
        row["name"] for row in select_rows(connection, "select name from pragma_table_info('session')")
    }
    sql = _SESSIONS.replace("time_updated", "time_updated, parent_id", 1) if parented else _SESSIONS
    sessions: dict[str, SessionVersion] = {}
    for row in select_rows(connection, sql):
        found = SessionVersion(str(row["id"]), str(row.get("parent_id") or ""))
        found.add(0, row["time_updated"], row["time_updated"])
        sessions[found.id] = found
    for statement in _CHANGES:
        for key, *numbers in connection.execute(statement):
            if key in sessions:
                sessions[str(key)].add(*numbers)
    return list(sessions.values())


def session_rows(connection: apsw.Connection, session: str) -> Iterator[tuple[str, Row]]:
    """Yield the session's row, then its messages by time and id, each followed by its parts by id; strays last."""
    for row in select_rows(connection, "select * from session where id=?", session):
        yield "session", row
    for message in select_rows(
        connection, "select * from message where session_id=? order by time_created, id", session
    ):
        yield "message", message
        for part in select_rows(connection, "select * from part where message_id=? order by id", str(message["id"])):
            yield "part", part
    for part in select_rows(
        connection,
        "select * from part where session_id=?1 and message_id not in (select id from message where session_id=?1)"
        " order by id",
        session,
    ):
        yield "part", part
