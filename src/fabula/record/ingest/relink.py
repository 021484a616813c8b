"""Records whose ancestor was unknown when they were mapped: moved to the right thread once the ancestor is there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.kernel.ids import derived_id, pack_id, unpack_id
from fabula.record.map.schema import PROVISIONAL, SIDECHAIN

if TYPE_CHECKING:
    import apsw

_FOUND = f"""
select r.id, r.uid, r.thread_id, p.thread_id from records r
join records p on p.uid = r.parent or p.id = r.parent or p.uid = r.source
where r.flags & {PROVISIONAL} and p.thread_id is not null
"""


#: Threads that subagents opened for themselves because their spawning call was not mapped yet. Left alone, the
#: planner reads every record in the order of threads instead of the few that are provisional.
_AGENTS = f"""
select distinct r.thread_id, s.uid from records r indexed by records_provisional join sessions s on s.id = r.session_id
where r.flags & {PROVISIONAL} and r.flags & {SIDECHAIN} and r.thread_id is not null
"""
_SPAWNED = "select r.thread_id from spawns w join records r on r.id = w.record_id where w.key=?"


def relink(connection: apsw.Connection) -> int:
    """Give provisional records their ancestor's thread, and with them what hangs on them; say how many moved."""
    moved = _join_agents(connection)
    for row, uid, old, new in list(connection.execute(_FOUND)):
        if old != new:
            rows = [row, *_descendants(connection, row, uid, old)] if old is not None else [row]
            connection.executemany("update records set thread_id=? where id=?", ((new, each) for each in rows))
            connection.executemany(
                "update passages set thread_id=? where thread_id=? and first_record=?",
                ((new, old, each) for each in rows),
            )
            connection.executemany("update failures set thread_id=? where record_id=?", ((new, each) for each in rows))
            moved += len(rows)
            recount(connection, new)
            if old is not None:
                recount(connection, old)
        connection.execute(f"update records set flags=flags & ~{PROVISIONAL} where id=?", (row,))
    return moved


def _join_agents(connection: apsw.Connection) -> int:
    """Let a subagent's own thread go over into the thread of the call that spawned it, once that call is mapped."""
    moved = 0
    for own, uid in list(connection.execute(_AGENTS)):
        agent = unpack_id(uid)
        mine = connection.execute(
            "select 1 from threads where id=? and uid=?", (own, pack_id(derived_id("agent", agent)))
        ).fetchone()
        found = connection.execute(_SPAWNED, (agent,)).fetchone()
        if mine is None or found is None or found[0] is None or found[0] == own:
            continue
        for table in ("passages", "failures", "thread_parts"):
            connection.execute(f"update {table} set thread_id=? where thread_id=?", (found[0], own))
        connection.execute(
            f"update records set thread_id=?, flags=flags & ~{PROVISIONAL} where thread_id=?", (found[0], own)
        )
        moved += connection.changes()
        recount(connection, found[0])
        recount(connection, own)
    return moved


def _descendants(connection: apsw.Connection, root: int, uid: bytes | str, thread: int) -> list[int]:
    """Return the records of a thread that hang on ``root``, by row or by uid."""
    children: dict[int | bytes | str, list[tuple[int, bytes | str]]] = {}
    for row, own, parent, source in connection.execute(
        "select id, uid, parent, source from records where thread_id=?", (thread,)
    ):
        link = parent if parent is not None else source  # a source of 1 has a parent
        if link is not None:
            children.setdefault(link, []).append((row, own))
    found: list[int] = []
    open_ends: list[int | bytes | str] = [root, uid]
    while open_ends:
        for row, own in children.pop(open_ends.pop(), []):
            found.append(row)
            open_ends += [row, own]
    return found


def recount(connection: apsw.Connection, thread: int) -> None:
    """Compute a thread's aggregates again from its records; an empty thread goes."""
    connection.execute(
        "update threads set (records, sidechain_records, first_time, last_time, first_record, last_record) ="
        " (select count(*), coalesce(sum(flags & 1), 0), min(time), max(time), min(id), max(id)"
        " from records where thread_id=?1) where id=?1",
        (thread,),
    )
    connection.execute("delete from threads where id=? and records=0", (thread,))
