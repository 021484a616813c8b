"""Holding one index open: where it lies, whose turn it is to write, and what happens when it is damaged."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, Self, TypeVar

import apsw

from fabula.kernel.errors import FabulaError
from fabula.memory.index import meta
from fabula.memory.index.asking import Asking, rows_of
from fabula.memory.index.places import is_in_place, open_elsewhere, open_in_corpus
from fabula.memory.index.rebuilding import rebuild, remove_database
from fabula.storage.database import database_errors
from fabula.storage.locks import FileLock

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from fabula.kernel.clock import Clock
    from fabula.memory.index.places import Opened
    from fabula.memory.index.source import Corpus
    from fabula.memory.index.values import Report

T = TypeVar("T")

FIRST_SECONDS: Final = 120.0  # how long is waited for another process that makes the index
CANNOT_WRITE: Final = frozenset({"ERR_DISK", "ERR_READ_ONLY"})
_DAMAGED: Final = (apsw.CorruptError, apsw.NotADBError)


class Holding(Asking):
    """An open index; used by one thread at a time. ``notices`` say where it lies, when that is not the corpus."""

    def __init__(self, corpus: Corpus, clock: Clock, scratch: Path | None) -> None:
        self._corpus = corpus
        self._clock = clock
        self._scratch = scratch
        self.notices: list[str] = []
        self._opened = self._open()

    @property
    def connection(self) -> apsw.Connection:
        """The database, for statements that read."""
        return self._opened.connection

    def ask(self, statement: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        """Return all rows of a statement that reads; a damaged index is made anew first."""
        return self.mended(lambda: rows_of(self.connection, statement, values))

    def stamp(self) -> tuple[str, int]:
        """Return what changes with every change of the index: a key for what is kept of it in memory."""
        return str(self._opened.path), int(self.one("select value from meta where key = ?", (meta.REVISION,)) or 0)

    def close(self) -> None:
        """Close the database."""
        self.connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # ── writing ─────────────────────────────────────────────────────
    @contextmanager
    def _writing(self, wait_seconds: float) -> Iterator[None]:
        """Hold the index for writing; a file that was replaced meanwhile is opened anew. Raises ``ERR_LOCKED``."""
        if self._opened.lock is None:
            yield
            return
        with FileLock(self._opened.lock, wait_seconds):
            if not is_in_place(self._opened):
                self._open_again()
            yield

    def _anew(self, wait_seconds: float, *, only_first: bool = False) -> Report | None:
        """Make the index anew. ``only_first``: ``None`` where another process has made it meanwhile."""
        if not self._opened.writable:
            self._go_elsewhere("read-only")
        with self._writing(wait_seconds):
            if only_first and meta.value_of(self.connection, meta.HEAD) is not None:
                return None
            with self._translated():
                return rebuild(self.connection, self._opened.path, self._corpus, self._clock.now_ms())

    @contextmanager
    def _translated(self) -> Iterator[None]:
        """Turn what the database refuses into errors for people."""
        with database_errors(self._opened.path or self._corpus.root):
            yield

    # ── where it lies ───────────────────────────────────────────────
    def _open(self, *, is_held: bool = False) -> Opened:
        try:
            return open_in_corpus(self._corpus.root, is_held=is_held)
        except FabulaError as error:
            if error.code not in CANNOT_WRITE | {"ERR_PATH"}:
                raise
            return self._elsewhere("read-only")

    def _elsewhere(self, why: str, *, is_held: bool = False) -> Opened:
        opened = open_elsewhere(self._corpus.root, self._scratch, why, is_held=is_held)
        self.notices = [opened.notice]
        return opened

    def _go_elsewhere(self, why: str) -> None:
        """Leave an index that can only be read for one that can be written."""
        self.connection.close()
        self._opened = self._elsewhere(why)

    def _open_again(self) -> None:
        """Open the file that is at the path now, with the lock held."""
        self.connection.close()
        is_usual = self._opened.kind == "corpus"
        self._opened = self._open(is_held=True) if is_usual else self._elsewhere("read-only", is_held=True)

    # ── damage ──────────────────────────────────────────────────────
    def mended(self, work: Callable[[], T]) -> T:
        """Do something; where the index turns out to be damaged, make it anew and do it again."""
        try:
            return work()
        except _DAMAGED:
            self._replace()
        except FabulaError as error:
            if error.code != "ERR_DATABASE":
                raise
            self._replace()
        return work()

    def _replace(self) -> None:
        """Throw a damaged index away and fill another one."""
        opened = self._opened
        if opened.path is None or opened.lock is None:
            self._go_elsewhere("read-only, and its index is damaged")
        else:
            with FileLock(opened.lock, FIRST_SECONDS):
                is_ours = is_in_place(opened)  # else another process has replaced it already
                opened.connection.close()
                if is_ours:
                    remove_database(opened.path)
                self._open_again()
        self._anew(FIRST_SECONDS, only_first=True)
