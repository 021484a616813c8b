"""Sessions as the map knows them: lists, and everything about one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fabula.kernel.errors import FabulaError
from fabula.kernel.ids import pack_id, unpack_id
from fabula.kernel.values import frozen

if TYPE_CHECKING:
    from collections.abc import Sequence

    import apsw

#: Sessions that a list shows: what a person would call a session. Subagents are shown inside of theirs.
LISTED_KINDS = ("main", "sdk", "prompts")

#: Kinds of file that stand beside a transcript and cannot replace it.
SIDE_FILES = ("tool-result", "file-backup", "meta", "history", "names")


@frozen
class Window:
    """What part of the record to look at. ``projects`` are row ids (``None``: all); times in ms, ``until`` excluded."""

    projects: tuple[int, ...] | None = None
    host: str = ""
    since: int | None = None
    until: int | None = None


@frozen
class SessionRow:
    """One session. Times in ms; ``source_gone`` when no file of it is left outside the vault."""

    row: int
    id: str
    host: str
    kind: str
    project: str
    title: str
    title_rank: int
    cwd: str
    branch: str
    first_time: int | None
    last_time: int | None
    records: int
    threads: int
    subagents: int
    continues: str
    source_gone: bool


@frozen
class ThreadRow:
    """One thread. ``sidechain_records`` of its ``records`` are subagents'; ``characters`` counts its prose."""

    row: int
    id: str
    session: str
    project: str
    first_time: int | None
    last_time: int | None
    records: int
    sidechain_records: int
    characters: int


@frozen
class TouchedFile:
    """A file that tools of a session worked on, and how often by operation."""

    path: str
    operations: dict[str, int]


@frozen
class ModelUsage:
    """Tokens of one model in a session and its subagents, each API response counted once."""

    model: str
    responses: int
    input: int
    output: int
    cache_read: int
    cache_write: int


@frozen
class SourceRow:
    """A file that a session was read from. ``generation`` is -1 for the live file; ``gone`` when it vanished."""

    path: str
    kind: str
    generation: int
    provenance: str
    size: int
    sealed: bool
    gone: bool

    @property
    def aside(self) -> bool:
        """Whether it only stands beside the session's transcript."""
        return self.kind in SIDE_FILES


_SESSION = f"""
select s.id, s.uid, s.host, s.kind, coalesce(p.label, '?'), s.title, s.title_rank, s.cwd, s.branch,
       s.first_time, s.last_time, s.records,
       (select count(*) from threads t where t.session_id = s.id),
       (select count(*) from sessions c where c.parent_id = s.id and c.kind in ('subagent', 'compaction')),
       case when s.kind in ('main', 'sdk') then (select o.uid from sessions o where o.id = s.parent_id) end,
       exists(select 1 from files f where f.session_id = s.id and f.kind not in {SIDE_FILES})
       and not exists(select 1 from files f where f.session_id = s.id and f.kind not in {SIDE_FILES}
                                              and f.vanished_at is null)
  from sessions s left join projects p on p.id = s.project_id
"""

_SOURCE = """
select path, kind, generation, provenance, size, vault_generation is not null, vanished_at is not null from files
"""
_SOURCE_ORDER = "order by generation >= 0, path, generation"

#: A session and all the agents below it.
_FAMILY = """
with recursive family(id) as (
  select ?1 union select c.id from sessions c join family on c.parent_id = family.id
   where c.kind in ('subagent', 'compaction'))
"""

_THREAD = """
select t.id, t.uid, s.uid, coalesce(p.label, '?'), t.first_time, t.last_time,
       t.records, t.sidechain_records, t.characters
  from threads t join sessions s on s.id = t.session_id left join projects p on p.id = s.project_id
"""


def list_sessions(
    connection: apsw.Connection, window: Window, *, limit: int, offset: int = 0, pinned: Sequence[str] = ()
) -> list[SessionRow]:
    """Return sessions: those whose ids are pinned, then the one last active first."""
    where, values = _session_condition(window)
    first = f"s.uid in ({','.join('?' * len(pinned))}) desc, " if pinned else ""
    statement = f"{_SESSION} where {where} order by {first}s.last_time desc nulls last, s.id desc limit ? offset ?"
    packed = [pack_id(uid) for uid in pinned]
    return [_session(row) for row in connection.execute(statement, (*values, *packed, limit, offset))]


def count_sessions(connection: apsw.Connection, window: Window) -> int:
    """Return how many sessions a window holds."""
    where, values = _session_condition(window)
    (number,) = connection.execute(f"select count(*) from sessions s where {where}", values).fetchone() or (0,)
    return int(number)


def session_by_row(connection: apsw.Connection, row: int) -> SessionRow:
    """Return one session by its row id. Raises ``ERR_DATABASE`` where the map names a session that it does not hold."""
    for values in connection.execute(f"{_SESSION} where s.id = ?", (row,)):
        return _session(values)
    raise _torn("session", row)


def children(connection: apsw.Connection, session: int, kinds: Sequence[str]) -> list[SessionRow]:
    """Return the sessions that a session spawned, or that continue it, in the order of their first record."""
    marks = ",".join("?" * len(kinds))
    statement = f"{_SESSION} where s.parent_id = ? and s.kind in ({marks}) order by s.first_time nulls last, s.id"
    return [_session(row) for row in connection.execute(statement, (session, *kinds))]


def threads_of_session(connection: apsw.Connection, session: int) -> list[ThreadRow]:
    """Return a session's threads in the order of their first record."""
    statement = f"{_THREAD} where t.session_id = ? order by t.first_time nulls last, t.first_record, t.id"
    return [_thread(row) for row in connection.execute(statement, (session,))]


def thread_by_row(connection: apsw.Connection, row: int) -> ThreadRow:
    """Return one thread by its row id. Raises ``ERR_DATABASE`` where the map names a thread that it does not hold."""
    for values in connection.execute(f"{_THREAD} where t.id = ?", (row,)):
        return _thread(values)
    raise _torn("thread", row)


def list_threads(connection: apsw.Connection, window: Window, *, limit: int, offset: int = 0) -> list[ThreadRow]:
    """Return the threads of a window, the newest first."""
    where, values = thread_condition(window)
    statement = f"{_THREAD} where {where} order by t.first_time desc nulls last, t.id desc limit ? offset ?"
    return [_thread(row) for row in connection.execute(statement, (*values, limit, offset))]


def files_of_session(connection: apsw.Connection, session: int) -> list[TouchedFile]:
    """Return the files that a session and its subagents worked on, by path."""
    statement = f"""{_FAMILY}
        select p.path, c.operation, count(*) from touches c cross join records r on r.id = c.record_id
          join paths p on p.id = c.path_id
         where r.session_id in family group by p.path, c.operation order by p.path, c.operation"""
    found: dict[str, dict[str, int]] = {}
    for path, operation, number in connection.execute(statement, (session,)):
        found.setdefault(path, {})[operation] = number
    return [TouchedFile(path, operations) for path, operations in found.items()]


def sources_of_session(connection: apsw.Connection, session: int) -> list[SourceRow]:
    """Return the files that a session was read from, live ones first."""
    named = list(connection.execute(f"{_SOURCE} where session_id = ?1 {_SOURCE_ORDER}", (session,)))
    if not named:  # only the contents of its file say which session it holds
        inside = "select r.file_id from threads t join records r on r.thread_id = t.id where t.session_id = ?1"
        named = list(connection.execute(f"{_SOURCE} where id in ({inside}) {_SOURCE_ORDER}", (session,)))
    return [SourceRow(*(*row[:5], *map(bool, row[5:]))) for row in named]


def usage_of_session(connection: apsw.Connection, session: int) -> list[ModelUsage]:
    """Return what a session and its subagents used, by model."""
    statement = f"""{_FAMILY}
        select model, count(*), sum(input), sum(output), sum(cache_read), sum(cache_write) from responses
         where session_id in family group by model order by model"""
    return [ModelUsage(*row) for row in connection.execute(statement, (session,))]


def thread_condition(window: Window) -> tuple[str, tuple[object, ...]]:
    """Return the SQL condition of a window on ``threads t join sessions s``, and its parameters.

    A composed session's copy of a thread that is here is left out: what it tells happened once.
    """
    happened = "t.id not in (select o.thread_id from origins o join records r on r.uid = o.uid)"
    return window_condition(window, [happened], since="t.last_time", until="t.first_time")


def _session_condition(window: Window) -> tuple[str, tuple[object, ...]]:
    kinds = ",".join(f"'{kind}'" for kind in LISTED_KINDS)
    holds = "(s.records > 0 or s.parent_id is not null)"  # a fork may repeat its origin's records only
    parts = [f"s.kind in ({kinds})", "s.uid <> ''", holds]  # side files belong to no session
    return window_condition(window, parts, since="s.last_time", until="s.first_time")


def window_condition(window: Window, parts: list[str], *, since: str, until: str) -> tuple[str, tuple[object, ...]]:
    """Return the SQL condition of a window beside ``parts``, and its parameters; sessions are ``s`` in the statement.

    ``since`` and ``until`` name the columns that a window's bounds are compared with.
    """
    values: list[object] = []
    if window.projects is not None:
        parts.append(f"s.project_id in ({','.join('?' * len(window.projects))})")
        values += window.projects
    if window.host:
        parts.append("s.host = ?")
        values.append(window.host)
    if window.since is not None:
        parts.append(f"{since} >= ?")
        values.append(window.since)
    if window.until is not None:
        parts.append(f"{until} < ?")
        values.append(window.until)
    return " and ".join(parts) or "1", tuple(values)


def _torn(kind: str, row: int) -> FabulaError:
    message = f"the map is damaged: it names {kind} {row} and does not hold it"
    return FabulaError("ERR_DATABASE", message, "fabula record rebuild")


def _session(row: tuple[Any, ...]) -> SessionRow:
    number, uid, *middle, continues, gone = row
    before = "" if continues is None else unpack_id(continues)
    return SessionRow(*(number, unpack_id(uid), *middle, before, bool(gone)))


def _thread(row: tuple[Any, ...]) -> ThreadRow:
    number, uid, session, *rest = row
    return ThreadRow(number, unpack_id(uid), unpack_id(session), *rest)
