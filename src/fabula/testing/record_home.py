"""A whole record in a temporary folder: transcripts in, scans, and look-ups in what came of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fabula.app.wiring import App
from fabula.kernel.ids import pack_id

if TYPE_CHECKING:
    from pathlib import Path

    import apsw

    from fabula.kernel.clock import Clock
    from fabula.record.scan.report import ScanReport
    from fabula.record.sources import Source
    from fabula.testing.transcripts import ClaudeSession


class FixedClock:
    """A clock that stands where it was put."""

    def __init__(self, now: int = 1_780_000_000_000) -> None:
        self.now = now

    def now_ms(self) -> int:
        """Milliseconds since the epoch."""
        return self.now


class RecordHome:
    """A user's home with a ``.claude`` and a Fabula home of its own; nothing of the real one is read."""

    def __init__(self, folder: Path, clock: Clock | None = None) -> None:
        self.folder = folder
        self.clock = clock or FixedClock()
        self.claude = folder / ".claude"
        self.claude.mkdir(parents=True, exist_ok=True)
        self.app = self.open()

    def open(self, cwd: Path | None = None) -> App:
        """Return a new application on this home, as another process would have it."""
        environment = {"FABULA_HOME": str(self.folder / "fabula"), "HOME": str(self.folder)}
        return App(environment=environment, cwd=cwd or self.folder, user_home=self.folder, clock=self.clock)

    def save(self, session: ClaudeSession) -> Path:
        """Write a Claude Code transcript."""
        return session.save(self.claude)

    def write(self, relative: str, data: bytes) -> Path:
        """Write any file below ``.claude``."""
        path = self.claude / relative
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        return path

    def scan(self, *, seal: bool = True, rebuild: bool = False, extra: tuple[Source, ...] = ()) -> ScanReport:
        """Scan everything."""
        return self.app.record.scan(seal=seal, rebuild=rebuild, extra=extra)

    @property
    def map(self) -> apsw.Connection:
        """The map for reading."""
        return self.app.reader()

    def rows(self, statement: str, *parameters: Any) -> list[tuple[Any, ...]]:
        """Run a query on the map."""
        return self.map.execute(statement, parameters).fetchall()

    def thread_of(self, uid: str) -> int | None:
        """Return the thread of a record."""
        rows = self.rows("select thread_id from records where uid=?", pack_id(uid))
        return rows[0][0] if rows else None

    def found(self, word: str) -> int:
        """Return in how many passages a word occurs."""
        return int(self.rows("select count(*) from passages_fts where passages_fts match ?", f'"{word}"')[0][0])

    def raw(self, uid: str) -> bytes:
        """Return a record's bytes through the loader."""
        loader = self.app.loader()
        return loader.raw(loader.row(uid))[0]
