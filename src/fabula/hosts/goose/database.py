"""The rows of Goose's database: which sessions there are, and the rows of one in a fixed order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.hosts.row_sessions import SessionVersion
from fabula.kernel.clock import parse_time
from fabula.record.containers.rows import select_rows

if TYPE_CHECKING:
    from collections.abc import Iterator

    import apsw

    from fabula.record.containers.rows import Row

#: What changed in the messages of each session. Rows are added with rising ids, also when a compaction writes all of
#: them anew; only the newest grows in place, so the length of its text alone is asked for (from the row's header).
_MESSAGES = (
    "with newest as (select session_id, count(*) n, max(id) last, sum(id % 1000000007) ids from messages"
    " group by session_id)"
    " select newest.session_id, n, 0, last * 1000003 + ids"
    " + coalesce(octet_length(m.content_json), 0) + coalesce(octet_length({metadata}), 0)"
    " from newest join messages m on m.id = newest.last"
)
_LEDGER = "select session_id, count(*), 0, max(id) from usage_ledger group by session_id"


def session_versions(connection: apsw.Connection) -> list[SessionVersion]:
    """Return the sessions with the signatures of their rows; the tables are those of schemas 1 to 17."""
    columns = _columns(connection, "sessions")
    parent = "parent_session_id" if "parent_session_id" in columns else "''"
    sessions: dict[str, SessionVersion] = {}
    for row in select_rows(connection, f"select id, updated_at, {parent} parent from sessions order by created_at, id"):
        found = SessionVersion(str(row["id"]), str(row["parent"] or ""))
        found.add(0, parse_time(row["updated_at"]), 0)
        sessions[found.id] = found
    metadata = "m.metadata_json" if "metadata_json" in _columns(connection, "messages") else "null"
    statements = [_MESSAGES.format(metadata=metadata)]
    if _columns(connection, "usage_ledger"):
        statements.append(_LEDGER)
    for statement in statements:
        for key, *numbers in connection.execute(statement):
            if key in sessions:
                sessions[str(key)].add(*numbers)
    return list(sessions.values())


def session_rows(connection: apsw.Connection, session: str) -> Iterator[tuple[str, Row]]:
    """Yield the session's row, its messages in the order of their ids, then what each response cost."""
    for row in select_rows(connection, "select * from sessions where id=?", session):
        yield "sessions", row
    for row in select_rows(connection, "select * from messages where session_id=? order by id", session):
        yield "messages", row
    if _columns(connection, "usage_ledger"):
        for row in select_rows(connection, "select * from usage_ledger where session_id=? order by id", session):
            yield "usage_ledger", row


def _columns(connection: apsw.Connection, table: str) -> set[str]:
    return {str(row["name"]) for row in select_rows(connection, "select name from pragma_table_info(?)", table)}
