"""Rows that one batch adds to the map, and the statements that write them."""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING

from fabula.kernel.hashes import digest
from fabula.kernel.records import PROVENANCES
from fabula.kernel.values import define, field
from fabula.record.map.schema import PASSAGE_COLUMNS, THREAD_COLUMNS

if TYPE_CHECKING:
    import apsw

    from fabula.kernel.records import Provenance, Record, Usage
    from fabula.record.ingest.caches import SessionFacts
    from fabula.record.ingest.passages import Passage

_PASSAGE_NAMES = ",".join(name for name, _ in PASSAGE_COLUMNS)
_THREAD_NAMES = ",".join(name for name, _ in THREAD_COLUMNS)


@define
class SharedRecords:
    """What a session repeats of another one: records by row, and the API responses that they came in."""

    rows: list[int] = field(default_factory=list)
    responses: set[str] = field(default_factory=set)


@define
class ThreadFacts:
    """What one batch learned about a thread, and the prose it added."""

    session: int
    first_record: int
    last_record: int
    first_time: int | None = None
    last_time: int | None = None
    records: int = 0
    sidechain_records: int = 0
    prompt: list[str] = field(default_factory=list)
    reply: list[str] = field(default_factory=list)  # replies and thoughts
    owner: int | None = None  # the session of its first record that is no subagent's
    spoken: list[str] = field(default_factory=list)  # replies alone

    def learn(self, record: Record, row: int, *, timed: bool = True) -> None:
        """Take in one record; ``row`` is its id, ``timed`` says whether its time is the thread's."""
        self.records += 1
        self.sidechain_records += record.sidechain
        self.last_record = row
        time = record.time if timed else None
        if time is not None:
            if self.first_time is None or time < self.first_time:
                self.first_time = time
            if self.last_time is None or time > self.last_time:
                self.last_time = time


@define
class Rows:
    """Everything that one batch writes, by table."""

    records: list[tuple[object, ...]] = field(default_factory=list)
    copies: list[tuple[int, int, int, int, Provenance]] = field(default_factory=list)  # record, file, span, provenance
    spawns: dict[str, int] = field(default_factory=dict)  # tool id or agent id -> record
    touches: list[tuple[int, int, str]] = field(default_factory=list)
    failures: list[tuple[object, ...]] = field(default_factory=list)
    resolutions: list[tuple[int, int]] = field(default_factory=list)  # (resolving record, failed record)
    responses: dict[str, tuple[int, int | None, Usage]] = field(default_factory=dict)
    citations: list[tuple[int, object]] = field(default_factory=list)
    origins: dict[int, object] = field(
        default_factory=dict
    )  # thread -> packed id of what its first record is a copy of
    passages: list[tuple[int, Passage]] = field(default_factory=list)
    threads: dict[int, ThreadFacts] = field(default_factory=dict)
    sessions: dict[int, SessionFacts] = field(default_factory=dict)
    terms: list[tuple[int, int, int]] = field(default_factory=list)  # term id, thread, count
    parts: list[tuple[int, int, str, str, str]] = field(default_factory=list)  # id, thread, prompt, reply, scope
    shared: dict[tuple[int, int], SharedRecords] = field(default_factory=dict)  # by (session, owner)
    scopes: dict[int, str] = field(default_factory=dict)  # scope tokens of a session: host, project, session


def write_rows(connection: apsw.Connection, rows: Rows) -> None:
    """Write one batch; the caller holds the transaction."""
    many = connection.executemany
    many(
        "insert into records(id,uid,session_id,thread_id,parent,source,file_id,offset,length,kind,role,time,flags)"
        " values(?,?,?,?,?,?,?,?,?,?,?,?,?)",
        rows.records,
    )
    copies = [(*span, PROVENANCES.index(provenance)) for *span, provenance in rows.copies]
    many("insert or replace into copies(record_id,file_id,offset,length,provenance) values(?,?,?,?,?)", copies)
    many("insert or replace into spawns(key,record_id) values(?,?)", rows.spawns.items())
    many("insert or ignore into touches(record_id,path_id,operation) values(?,?,?)", rows.touches)
    many(
        "insert or ignore into failures(signature,record_id,thread_id,time,tool,subject,message) values(?,?,?,?,?,?,?)",
        rows.failures,
    )
    many("update failures set resolved_by=? where record_id=? and resolved_by is null", rows.resolutions)
    many("insert or ignore into citations(record_id,ref) values(?,?)", rows.citations)
    many("insert or ignore into origins(thread_id,uid) values(?,?)", rows.origins.items())
    _write_responses(connection, rows)
    _write_sessions(connection, rows)
    _write_shared(connection, rows)
    _write_threads(connection, rows)
    _write_text(connection, rows)


def response_key(identity: str) -> int:
    """Return the integer under which one API response is kept."""
    return int.from_bytes(digest(identity.encode("utf-8", "surrogatepass"))[:8], "big", signed=True)


def _write_responses(connection: apsw.Connection, rows: Rows) -> None:
    connection.executemany(
        "insert into responses(key,session_id,time,model,input,output,cache_read,cache_write) values(?,?,?,?,?,?,?,?)"
        " on conflict(key) do update set input=excluded.input, output=excluded.output,"
        " cache_read=excluded.cache_read, cache_write=excluded.cache_write"
        " where excluded.input+excluded.output+excluded.cache_read+excluded.cache_write"
        " > input+output+cache_read+cache_write",
        sorted(  # in the table's order: pages are filled one after the other
            (
                (
                    response_key(key),
                    session,
                    time,
                    usage.model,
                    usage.input,
                    usage.output,
                    usage.cache_read,
                    usage.cache_write,
                )
                for key, (session, time, usage) in rows.responses.items()
            ),
            key=itemgetter(0),
        ),
    )


def _write_sessions(connection: apsw.Connection, rows: Rows) -> None:
    connection.executemany(
        "update sessions set records=records+?1,"
        " first_time=coalesce(min(first_time,?2),first_time,?2), last_time=coalesce(max(last_time,?3),last_time,?3),"
        " cwd=case when cwd='' then ?4 else cwd end, branch=case when ?5='' then branch else ?5 end,"
        " title=case when ?7>=title_rank and ?6<>'' then ?6 else title end, title_rank=max(title_rank,?7) where id=?8",
        (
            (
                facts.records,
                facts.first_time,
                facts.last_time,
                facts.cwd,
                facts.branch,
                facts.title,
                facts.title_rank,
                key,
            )
            for key, facts in rows.sessions.items()
        ),
    )
    for key, facts in rows.sessions.items():
        if facts.title:
            connection.execute("delete from titles_fts where rowid=?", (key,))
            connection.execute("insert into titles_fts(rowid,title) select id,title from sessions where id=?", (key,))


def _write_shared(connection: apsw.Connection, rows: Rows) -> None:
    """Sessions that share records are one conversation: the later one continues the earlier, which owns them."""
    for (session, owner), shared in rows.shared.items():
        earlier, later = (session, owner) if _came_first(connection, session, owner) else (owner, session)
        if earlier == session:
            _give_back(connection, session, owner, shared)
        connection.execute(
            "update sessions set parent_id=? where id=? and parent_id is null and kind='main'", (earlier, later)
        )


def _give_back(connection: apsw.Connection, session: int, owner: int, shared: SharedRecords) -> None:
    """Let the older session own what a later one, read first, held: records, their threads and their bills."""
    moved = len(set(shared.rows))
    connection.executemany("update sessions set records=records+? where id=?", ((moved, session), (-moved, owner)))
    connection.executemany("update records set session_id=? where id=?", ((session, row) for row in shared.rows))
    connection.executemany(
        "update threads set session_id=? where session_id=? and id=(select thread_id from records where id=?)",
        ((session, owner, row) for row in shared.rows),
    )
    connection.executemany(
        "update responses set session_id=? where session_id=? and key=?",
        ((session, owner, response_key(response)) for response in sorted(shared.responses)),
    )


def _came_first(connection: apsw.Connection, session: int, owner: int) -> bool:
    """Say whether ``session`` is the older of two: a fork names its origin, else the first time decides."""
    query = "select parent_id, coalesce(first_time, 1 << 62), host, hex(uid) from sessions where id=?"
    parent, *began = connection.execute(query, (session,)).fetchone() or (None, 0)
    parent_of_owner, *owner_began = connection.execute(query, (owner,)).fetchone() or (None, 0)
    return parent_of_owner == session or (parent != owner and began < owner_began)


def _write_threads(connection: apsw.Connection, rows: Rows) -> None:
    connection.executemany(
        "update threads set records=records+?1, sidechain_records=sidechain_records+?2,"
        " first_time=coalesce(min(first_time,?3),first_time,?3), last_time=coalesce(max(last_time,?4),last_time,?4),"
        " first_record=coalesce(min(first_record,?5),?5), last_record=coalesce(max(last_record,?6),?6),"
        " characters=characters+?7 where id=?8",
        (
            (
                facts.records, facts.sidechain_records, facts.first_time, facts.last_time, facts.first_record,
                facts.last_record, sum(map(len, facts.prompt)) + sum(map(len, facts.reply)), key,
            )
            for key, facts in rows.threads.items()
        ),
    )  # fmt: skip
    connection.executemany(  # a subagent's file may come before the turn that started it
        "update threads set session_id=?1 where id=?2 and session_id<>?1"
        " and session_id in (select id from sessions where kind in ('subagent', 'compaction'))",
        ((facts.owner, key) for key, facts in rows.threads.items() if facts.owner is not None),
    )
    connection.executemany(
        "insert into thread_terms(term_id,thread_id,count) values(?,?,?)"
        " on conflict(term_id,thread_id) do update set count=count+excluded.count",
        sorted(rows.terms),
    )


def _write_text(connection: apsw.Connection, rows: Rows) -> None:
    connection.executemany(
        "insert into passages(id,thread_id,first_record,last_record,first_time,last_time) values(?,?,?,?,?,?)",
        ((key, p.thread, p.first, p.last, p.first_time, p.last_time) for key, p in rows.passages),
    )
    scopes = rows.scopes
    connection.executemany(
        f"insert into passages_fts(rowid,{_PASSAGE_NAMES}) values(?,?,?,?,?,?,?)",
        ((key, *p.columns(), f"{scopes[p.session]} {' '.join(sorted(p.marks))}") for key, p in rows.passages),
    )
    connection.executemany(
        "insert into thread_parts(id,thread_id) values(?,?)", ((part[0], part[1]) for part in rows.parts)
    )
    connection.executemany(
        f"insert into threads_fts(rowid,{_THREAD_NAMES}) values(?,?,?,?)",
        ((key, prompt, reply, scope) for key, _, prompt, reply, scope in rows.parts),
    )
