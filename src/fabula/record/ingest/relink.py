"""Records whose ancestor was unknown when they were mapped: moved to the right thread once the ancestor is there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.kernel.ids import derived_id, pack_id, unpack_id
from fabula.record.map.forget import recount_thread
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
            if old is not None:
                merge_if_empty(connection, old, new)
                recount_thread(connection, old)
            recount_thread(connection, new)
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
        for table in ("passages", "failures"):
            connection.execute(f"update {table} set thread_id=? where thread_id=?", (found[0], own))
        connection.execute(
            f"update records set thread_id=?, flags=flags & ~{PROVISIONAL} where thread_id=?", (found[0], own)
        )
        moved += connection.changes()
        merge_if_empty(connection, own, found[0])
        recount_thread(connection, own)
        recount_thread(connection, found[0])
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


def merge_if_empty(connection: apsw.Connection, old: int, new: int) -> None:
    """Where all records of a thread moved into another, its prose, terms and length go with them."""
    if connection.execute("select 1 from records where thread_id=? limit 1", (old,)).fetchone() is not None:
        return
    connection.execute("update thread_parts set thread_id=? where thread_id=?", (new, old))
    connection.execute(
        "insert into thread_terms(term_id, thread_id, count) select term_id, ?, count from thread_terms"
        " where thread_id=? on conflict(term_id, thread_id) do update set count=count+excluded.count",
        (new, old),
    )
    connection.execute(
        "update threads set characters=characters+coalesce((select characters from threads where id=?),0) where id=?",
        (old, new),
    )
