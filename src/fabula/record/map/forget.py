"""Forgetting records that nobody holds any more, and all that hangs on them. The caller holds the transaction."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.record.map.files import forget_row
from fabula.record.map.schema import REWRITTEN, SLIMMED

if TYPE_CHECKING:
    import apsw

    from fabula.record.map.files import KnownFile

_BEST_COPY = """
select c.file_id, c.offset, c.length, c.provenance from copies c join files f on f.id = c.file_id
where c.record_id = ? and c.file_id <> ?
order by c.provenance, c.length desc,
  case when f.generation < 0 then 1 << 30 else f.generation end, c.file_id
limit 1
"""

_FLAGS = (0, REWRITTEN, SLIMMED)  # by provenance

_HANGING = (
    "delete from copies where record_id=?",
    "delete from touches where record_id=?",
    "delete from failures where record_id=?",
    "update failures set resolved_by=null where resolved_by=?",
    "delete from citations where record_id=?",
    "delete from spawns where record_id=?",
    "delete from records where id=?",
)


def forget_file(connection: apsw.Connection, known: KnownFile) -> int:
    """Forget a file whose bytes are gone everywhere; say how many records went with it.

    Records with a copy elsewhere are pointed at the best one. A passage that held a forgotten record goes as a whole;
    what else stood in it is found again through its thread when the file that holds it is next read.
    """
    connection.execute("delete from copies where file_id=?", (known.id,))
    lost: list[tuple[int, int | None, int]] = []
    for row, thread, session, flags in list(
        connection.execute("select id, thread_id, session_id, flags from records where file_id=?", (known.id,))
    ):
        copy = connection.execute(_BEST_COPY, (row, known.id)).fetchone()
        if copy is None:
            lost.append((row, thread, session))
            continue
        file_id, offset, length, provenance = copy
        connection.execute(
            "update records set file_id=?, offset=?, length=?, flags=? where id=?",
            (file_id, offset, length, (flags & ~(REWRITTEN | SLIMMED)) | _FLAGS[provenance], row),
        )
        connection.execute("delete from copies where record_id=? and file_id=? and offset=?", (row, file_id, offset))
    forget_records(connection, lost)
    forget_row(connection, known)
    return len(lost)


def forget_records(connection: apsw.Connection, lost: list[tuple[int, int | None, int]]) -> None:
    """Remove records (id, thread, session) and everything derived from them."""
    for row, thread, _ in lost:
        if thread is not None:
            for (passage,) in list(
                connection.execute(
                    "select id from passages where thread_id=? and first_record<=? and last_record>=?",
                    (thread, row, row),
                )
            ):
                connection.execute("delete from passages_fts where rowid=?", (passage,))
                connection.execute("delete from passages where id=?", (passage,))
        for statement in _HANGING:
            connection.execute(statement, (row,))
    for thread in {thread for _, thread, _ in lost if thread is not None}:
        recount_thread(connection, thread)
    for session in {session for _, _, session in lost}:
        connection.execute(
            "update sessions set records=(select count(*) from records where session_id=?1) where id=?1", (session,)
        )


def forget_told_prompts(connection: apsw.Connection) -> int:
    """Remove prompts that a list of prompts repeats from a session whose transcript is mapped; say how many."""
    told = list(
        connection.execute(
            "select id, thread_id, session_id from records where file_id in (select id from files where kind='history')"
            " and session_id in (select session_id from files where kind='session' and read_to > 0)"
        )
    )
    forget_records(connection, told)
    return len(told)


def recount_thread(connection: apsw.Connection, thread: int) -> None:
    """Compute a thread's aggregates again from its records; a thread without any goes, with all that hangs on it."""
    connection.execute(
        "update threads set (records, sidechain_records, first_time, last_time, first_record, last_record) ="
        " (select count(*), coalesce(sum(flags & 1), 0), min(time), max(time), min(id), max(id)"
        " from records where thread_id=?1) where id=?1",
        (thread,),
    )
    if connection.execute("select 1 from threads where id=? and records>0", (thread,)).fetchone() is not None:
        return
    for (part,) in list(connection.execute("select id from thread_parts where thread_id=?", (thread,))):
        connection.execute("delete from threads_fts where rowid=?", (part,))
    for table in ("thread_parts", "thread_terms", "vectors", "origins"):
        connection.execute(f"delete from {table} where thread_id=?", (thread,))
    connection.execute("delete from threads where id=?", (thread,))
