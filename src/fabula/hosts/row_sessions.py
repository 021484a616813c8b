"""The sessions that a database of a host holds, each with a signature that changes when its rows do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.kernel.records import SourceFile
from fabula.kernel.values import define
from fabula.record.containers.rows import as_os_error, foreign_reader, version_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import apsw

    from fabula.hosts.walking import Walker

_WRAP = 1 << 62


@define
class SessionVersion:
    """A session and a signature of its rows: how many, when the last one changed, the sum of their times."""

    id: str
    parent: str = ""
    rows: int = 1
    updated_ms: int = 0
    times: int = 0

    def add(self, count: object, last: object, total: object) -> None:
        """Take in the rows of one table."""
        self.rows += count if isinstance(count, int) else 0
        self.updated_ms = max(self.updated_ms, last if isinstance(last, int) else 0)
        self.times = (self.times + (int(total) if isinstance(total, int | float) else 0)) % _WRAP

    def file(self, host: str, database: str, inode: int) -> SourceFile:
        """Return the session as a file: its signature stands where a file's stat does."""
        kind = "subagent" if self.parent else "session"
        return SourceFile(
            host, f"{database}#{self.id}", kind, self.id, self.rows, self.updated_ms * 1_000_000, self.times, inode,
            self.parent,
        )  # fmt: skip


class Versions:
    """The sessions of one database; looked at again only when the database changed."""

    def __init__(self, path: str, look: Callable[[apsw.Connection], list[SessionVersion]]) -> None:
        self._path, self._look = path, look
        self._version: tuple[int, ...] = ()
        self._sessions: list[SessionVersion] = []
        self.notes: list[str] = []

    def files(self, host: str, inode: int, walker: Walker) -> Iterator[SourceFile]:
        """Yield the sessions as files; ``walker`` is told why some cannot be read."""
        try:
            sessions = self.read()
        except OSError as error:
            walker.problems.append((self._path, str(error)))
            return
        walker.problems += [(self._path, note) for note in self.notes]
        for session in sessions:
            yield session.file(host, self._path, inode)

    def read(self) -> list[SessionVersion]:
        """Return the sessions with their signatures. Raises ``OSError``."""
        version = version_of(self._path)
        if version != self._version:
            self.notes = []
            with foreign_reader(self._path, self.notes) as connection, as_os_error(self._path):
                self._sessions = self._look(connection)
            self._version = version
        return self._sessions
