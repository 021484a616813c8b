"""Get-or-create for the small tables of the map, remembered for the length of a scan."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.kernel.ids import pack_id
from fabula.kernel.values import define

if TYPE_CHECKING:
    from collections.abc import Callable

    import apsw

    from fabula.kernel.records import Record, SourceFile

_TERM = "select id from lexicon where kind=? and term=?"


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


class Names:
    """Ids of projects, sessions, threads and paths."""

    def __init__(self, connection: apsw.Connection, project_of: Callable[[str], tuple[str, str]]) -> None:
        self._connection = connection
        self._project_of = project_of
        self._projects: dict[str, int] = {}
        self._sessions: dict[tuple[str, str], int] = {}
        self._threads: dict[str, int] = {}
        self._paths: dict[str, int] = {}
        self._terms: dict[tuple[str, str], int] = {}
        row = connection.execute("select coalesce(max(id),0)+1 from lexicon").fetchone()
        self._next_term = int(row[0]) if row else 1
        self._fresh = self._next_term == 1
        #: A table that was empty holds nothing that is not remembered here: no need to look.
        self._new_threads, self._new_paths = _is_empty(connection, "threads"), _is_empty(connection, "paths")

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
            packed = pack_id(uid)
            known = self._get_or_insert(
                "" if self._new_threads else "select id from threads where uid=?", (packed,),
                "insert into threads(uid,session_id) values(?,?)", (packed, session),
            )  # fmt: skip
            self._threads[uid] = known
        return known

    def path(self, path: str) -> int:
        """Return the id of a file path that tools touched."""
        known = self._paths.get(path)
        if known is None:
            select = "" if self._new_paths else "select id from paths where path=?"
            known = self._get_or_insert(select, (path,), "insert into paths(path) values(?)", (path,))
            self._paths[path] = known
        return known

    def terms(self, wanted: list[tuple[str, str]]) -> list[int]:
        """Return the ids of facets (kind, term), creating those that are new."""
        known, new = self._terms, []
        for key in wanted:
            if key not in known:
                row = None if self._fresh else self._connection.execute(_TERM, key).fetchone()
                known[key] = int(row[0]) if row else self._next_term
                if row is None:
                    new.append((self._next_term, *key))
                    self._next_term += 1
        self._connection.executemany("insert into lexicon(id,kind,term) values(?,?,?)", new)
        return [known[key] for key in wanted]

    def _get_or_insert(self, select: str, key: tuple[object, ...], insert: str, values: tuple[object, ...]) -> int:
        row = self._connection.execute(select, key).fetchone() if select else None
        if row is not None:
            return int(row[0])
        self._connection.execute(insert, values)
        return self._connection.last_insert_rowid()


def _is_empty(connection: apsw.Connection, table: str) -> bool:
    return connection.execute(f"select 1 from {table} limit 1").fetchone() is None


def session_kind(file: SourceFile) -> str:
    """Return the kind of the session that a file holds, from the source's own word for the file."""
    if file.kind in {"subagent", "compaction", "workflow"}:
        return "compaction" if file.kind == "compaction" else "subagent"
    return "prompts" if file.kind == "history" else "main"
