"""Get-or-create for the small tables of the map, remembered for the length of a scan."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.kernel.ids import pack_id
from fabula.kernel.values import define

if TYPE_CHECKING:
    from collections.abc import Callable

    import apsw

    from fabula.kernel.records import Record, SourceFile


@define
class SessionFacts:
    """What one scan learned about a session; merged into its row when the batch is written."""

    id: int
    first_time: int | None = None
    last_time: int | None = None
    records: int = 0
    title: str = ""
    title_rank: int = 0
    cwd: str = ""
    branch: str = ""

    def see(self, time: int | None) -> None:
        """Take in when something of the session happened."""
        if time is not None:
            if self.first_time is None or time < self.first_time:
                self.first_time = time
            if self.last_time is None or time > self.last_time:
                self.last_time = time

    def learn(self, record: Record, time: int | None) -> None:
        """Take in one record of the session; ``time`` is its time where that is the session's."""
        self.records += 1
        if time is not None and (self.last_time is None or self.first_time is None or time > self.last_time
                                 or time < self.first_time):  # fmt: skip
            self.see(time)
        if record.cwd and not self.cwd:
            self.cwd = record.cwd
        if record.branch:
            self.branch = record.branch
        if record.title and record.title_rank >= self.title_rank:
            self.title, self.title_rank = record.title, record.title_rank


class Numbered:
    """A table's rows by key. New ones are numbered here and written together: nobody reads them before."""

    def __init__(
        self, connection: apsw.Connection, table: str, key: tuple[str, ...], others: tuple[str, ...] = ()
    ) -> None:
        """``key`` names the columns that tell a row, ``others`` those that it is made with besides."""
        columns = ("id", *key, *others)
        self._connection = connection
        self._select = f"select id from {table} where {' and '.join(f'{name}=?' for name in key)}"
        self._insert = f"insert into {table}({','.join(columns)}) values({','.join('?' * len(columns))})"
        row = connection.execute(f"select coalesce(max(id),0)+1 from {table}").fetchone()
        self._next = int(row[0]) if row else 1
        self._was_empty = self._next == 1  # then it holds nothing that is not known here
        self._known: dict[tuple[bytes | str, ...], int] = {}
        self._new: list[tuple[object, ...]] = []

    def id_of(self, key: tuple[bytes | str, ...], *others: object) -> int:
        """Return the id of the row with a key; a new one is made with ``others``."""
        known = self._known.get(key)
        if known is None:
            row = None if self._was_empty else self._connection.execute(self._select, key).fetchone()
            known = self._known[key] = int(row[0]) if row else self._next
            if row is None:
                self._next += 1
                self._new.append((known, *key, *others))
        return known

    def write(self) -> None:
        """Write the new rows."""
        self._connection.executemany(self._insert, self._new)
        self._new.clear()


class Names:
    """Ids of projects, sessions, threads and paths."""

    def __init__(self, connection: apsw.Connection, project_of: Callable[[str], tuple[str, str]]) -> None:
        self._connection = connection
        self._project_of = project_of
        self._projects: dict[str, int] = {}
        self._sessions: dict[tuple[str, str], int] = {}
        self._threads: dict[str, int] = {}
        self._thread_rows = Numbered(connection, "threads", ("uid",), ("session_id",))
        self._path_rows = Numbered(connection, "paths", ("path",))
        self._term_rows = Numbered(connection, "lexicon", ("kind", "term"))

    def project(self, cwd: str) -> int:
        """Return the id of the project that a working directory belongs to."""
        known = self._projects.get(cwd)
        if known is None:
            key, label = self._project_of(cwd)
            known = self._get_or_insert(
                "select id from projects where key=?",
                (key,),
                "insert into projects(key,label) values(?,?)",
                (key, label),
            )
            self._projects[cwd] = known
        return known

    def session(self, host: str, uid: str, *, kind: str = "main", parent: int | None = None) -> int:
        """Return the id of a session, creating it with the kind and parent given."""
        known = self._sessions.get((host, uid))
        if known is None:
            packed = pack_id(uid)
            known = self._get_or_insert(
                "select id from sessions where host=? and uid=?",
                (host, packed),
                "insert into sessions(host,uid,kind,parent_id) values(?,?,?,?)",
                (host, packed, kind, parent),
            )
            self._sessions[host, uid] = known
        return known

    def file_session(self, file: SourceFile) -> int:
        """Return the session that a file as a whole belongs to; its parent exists first."""
        parent = self.session(file.host, file.parent_session) if file.parent_session else None
        if not file.session and parent is not None:
            return parent
        session = self.session(file.host, file.session, kind=session_kind(file), parent=parent)
        if file.kind == "session":
            self._connection.execute("update sessions set kind='main' where id=? and kind='prompts'", (session,))
        if parent is not None:
            self._connection.execute(
                "update sessions set parent_id=?, kind=? where id=? and parent_id is null and id<>?",
                (parent, session_kind(file), session, parent),
            )
        return session

    def thread(self, uid: str, session: int) -> int:
        """Return the id of a thread by its key, creating it in ``session``."""
        known = self._threads.get(uid)
        if known is None:
            known = self._threads[uid] = self._thread_rows.id_of((pack_id(uid),), session)
        return known

    def path(self, path: str) -> int:
        """Return the id of a file path that tools touched."""
        return self._path_rows.id_of((path,))

    def term(self, kind: str, term: str) -> int:
        """Return the id of a facet."""
        return self._term_rows.id_of((kind, term))

    def write(self) -> None:
        """Write the threads, paths and facets that are new."""
        for rows in (self._thread_rows, self._path_rows, self._term_rows):
            rows.write()

    def _get_or_insert(self, select: str, key: tuple[object, ...], insert: str, values: tuple[object, ...]) -> int:
        row = self._connection.execute(select, key).fetchone()
        if row is not None:
            return int(row[0])
        self._connection.execute(insert, values)
        return self._connection.last_insert_rowid()


def session_kind(file: SourceFile) -> str:
    """Return the kind of the session that a file holds, from the source's own word for the file."""
    if file.kind in {"subagent", "compaction", "workflow"}:
        return "compaction" if file.kind == "compaction" else "subagent"
    return "prompts" if file.kind == "history" else "main"
