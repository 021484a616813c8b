"""Records whose ancestor was unknown when they were mapped: moved to the right thread once the ancestor is there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.record.map.schema import PROVISIONAL

if TYPE_CHECKING:
    import apsw

_FOUND = f"""
select r.id, r.uid, r.thread_id, p.thread_id from records r
join records p on p.uid = r.parent or p.id = r.parent or p.uid = r.source
where r.flags & {PROVISIONAL} and p.thread_id is not null
"""


def relink(connection: apsw.Connection) -> int:
    """Give provisional records their ancestor's thread, and with them what hangs on them; say how many moved."""
    moved = 0
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
