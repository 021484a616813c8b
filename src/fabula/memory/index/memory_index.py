"""The index of one corpus: brought up to date, and asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from fabula.kernel.errors import FabulaError
from fabula.memory.format.paths import is_indexed
from fabula.memory.index import meta
from fabula.memory.index.asking import rows_of
from fabula.memory.index.holding import CANNOT_WRITE, FIRST_SECONDS, Holding
from fabula.memory.index.known import Known
from fabula.memory.index.listing import Listing
from fabula.memory.index.looking import ALL, WATCHED, Looked, look_around, share_at
from fabula.memory.index.overview import Overview
from fabula.memory.index.relations import Relations
from fabula.memory.index.updating import Pass, Work
from fabula.memory.index.values import Report

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from fabula.kernel.clock import Clock
    from fabula.memory.format.reader import Reading
    from fabula.memory.index.source import Corpus
    from fabula.memory.links.edges import DerivedEdge
    from fabula.storage.git.values import Committed

WRITE_SECONDS: Final = 5.0
#: From so many files on, a process that goes on compares the stamps of files in untouched folders once in this time.
MANY_FILES: Final = 1_000
PAUSE_MS: Final = 1_000


class MemoryIndex(Holding, Known, Listing, Relations, Overview):
    """An open index; used by one thread at a time. ``notices`` say where it lies, when that is not the corpus."""

    def __init__(self, corpus: Corpus, clock: Clock, scratch: Path | None) -> None:
        super().__init__(corpus, clock, scratch)
        self._looked_at: int | None = None

    # ── keeping up ──────────────────────────────────────────────────
    def refresh(self, *, thorough: bool = False, wait_seconds: float = 2.0) -> Report:
        """Take in what changed: commits, and what lies in the work tree. Next to nothing when nothing did.

        ``thorough``: compare the stamps of all files; else of folders, of what is not committed, and of a share of the
        rest (see ``looking``). Where another process is writing for longer than ``wait_seconds``, or the disk is full,
        the answer is as old as the index, and a notice says so. Raises ``ERR_GIT``, ``ERR_LOCKED``.
        """
        return self.mended(lambda: self._refresh(wait_seconds, thorough=thorough))

    def rebuild(self, wait_seconds: float = FIRST_SECONDS) -> Report:
        """Make the index anew; vectors, guesses, moves are kept. Raises ``ERR_GIT``, ``ERR_LOCKED``, ``ERR_DISK``."""
        made = self.mended(lambda: self._anew(wait_seconds))
        return made or Report(self._corpus.head())

    def bring_to(self, commit: str) -> Report:
        """Take in what is committed, so far as it is not known: for a writer who decides by it.

        Raises ``ERR_GIT``, ``ERR_LOCKED``, ``ERR_DISK``.
        """
        return self.mended(lambda: self._bring_to(commit, FIRST_SECONDS))

    def took(
        self,
        committed: Committed,
        contents: Mapping[str, bytes | None],
        readings: Mapping[str, Reading] | None = None,
    ) -> Report:
        """Take in a commit that was just made, of these paths (``None``: it is gone): without a look at anything else.

        ``readings``: of files that their writer has read already, so that they need not be read again.
        Never raises for an index that cannot be written now: the next refresh makes up for it.
        """
        try:
            return self.mended(lambda: self._took(committed, contents, readings or {}))
        except FabulaError as error:
            return Report(committed.id, notices=[f"the index takes this in later: {error.message}"])

    # ── keeping what does not stand in the corpus ───────────────────
    def keep_vectors(self, rows: Iterable[tuple[str, bytes, bytes]]) -> bool:
        """Keep vectors: (space, ``text_hash``, vector). Say whether they were: not where nothing can be written now."""
        return self._keep("insert or replace into vectors values(?, ?, ?)", list(rows))

    def guess(self, edges: Iterable[DerivedEdge]) -> bool:
        """Keep guesses about memories that are there; they hold for the facts as they are now."""
        found = list(edges)
        rows = self.files(end for edge in found for end in (edge.source, edge.target))
        return self._keep(
            "insert or replace into guesses values(?, ?, ?, ?)",
            [
                (rows[edge.source].fact_hash, edge.relation, rows[edge.target].fact_hash, edge.strength)
                for edge in found
                if edge.source in rows and edge.target in rows
            ],
        )

    def drop_guesses(self) -> bool:
        """Forget all guesses: who guesses anew begins with none."""
        return self._keep("delete from guesses where 1 = ?", [(1,)])

    def _keep(self, statement: str, rows: list[tuple[Any, ...]]) -> bool:
        if not rows or not self._opened.writable:
            return False
        try:
            with self._writing(WRITE_SECONDS), self._translated(), self.connection:
                self.connection.executemany(statement, rows)
                meta.keep(self.connection, {meta.REVISION: meta.revision_of(self.connection) + 1})
        except FabulaError:
            return False
        return True

    # ── how ─────────────────────────────────────────────────────────
    def _refresh(self, wait_seconds: float, *, thorough: bool) -> Report:
        known = meta.value_of(self.connection, meta.HEAD)
        if known is None:
            made = self._anew(FIRST_SECONDS, only_first=True)
            return made or self._as_it_is(self._corpus.head())
        before = self.stamp()
        head = self._corpus.head()
        share = ALL if thorough else self._share()
        work = self._work(str(known), head, share, thorough=thorough)
        if work is None:
            return self._as_it_is(head)
        if not self._opened.writable:
            return self._refresh_elsewhere(work, str(known))
        try:
            with self._writing(wait_seconds):
                if self.stamp() != before:  # another process was first
                    known = meta.value_of(self.connection, meta.HEAD)
                    work = None if known is None else self._work(str(known), head, share, thorough=thorough)
                return self._as_it_is(head) if work is None else self._pass(work)
        except FabulaError as error:
            if error.code not in CANNOT_WRITE | {"ERR_LOCKED"}:
                raise
            return Report(str(known), notices=[f"the index is as of an earlier moment: {error.message}"])

    def _work(self, known: str, head: str, share: tuple[int, int], *, thorough: bool) -> Work | None:
        """Return what there is to take in; ``None``: nothing."""
        looked = look_around(self.connection, self._corpus, share)
        ignoring = self._corpus.ignoring()
        asks = thorough or ignoring != meta.value_of(self.connection, meta.IGNORING)
        if asks:
            rows = rows_of(self.connection, "select path from places where tree_blob is null")
            looked.paths.update(path for (path,) in rows)
        elif known == head and looked.is_nothing:
            return None
        return Work(head, self._changes(known, head), looked, ignoring, asks)

    def _changes(self, known: str, head: str) -> Mapping[str, str | None]:
        """Return what differs between two commits; where the older one is gone from the repository, all is compared."""
        if known == head:
            return {}
        found = self._corpus.changes(known, head) if known and head else None
        if found is not None:
            return found
        now = self._corpus.entries(head)
        rows = rows_of(self.connection, "select path, tree_blob from places where tree_blob is not null")
        before: dict[str, str] = dict(rows)
        return {path: now.get(path) for path in now.keys() | before.keys() if now.get(path) != before.get(path)}

    def _pass(self, work: Work, *, keeps_moves: bool = True) -> Report:
        with self._translated():
            return Pass(self.connection, self._corpus).run(work, now_ms=self._clock.now_ms(), keeps_moves=keeps_moves)

    def _bring_to(self, commit: str, wait_seconds: float, *, keeps_moves: bool = True) -> Report:
        known = meta.value_of(self.connection, meta.HEAD)
        if known == commit:
            return self._as_it_is(commit)
        if not self._opened.writable:
            self._go_elsewhere("read-only")
        made = self._anew(FIRST_SECONDS, only_first=True) if known is None else None
        with self._writing(wait_seconds):
            known = str(meta.value_of(self.connection, meta.HEAD) or "")
            if known == commit:
                return made or self._as_it_is(commit)
            return self._pass(Work(commit, self._changes(known, commit), Looked()), keeps_moves=keeps_moves)

    def _took(
        self, committed: Committed, contents: Mapping[str, bytes | None], readings: Mapping[str, Reading]
    ) -> Report:
        if not self._opened.writable:
            return self._as_it_is(committed.id)
        with self._writing(WRITE_SECONDS):
            if meta.value_of(self.connection, meta.HEAD) == committed.parent:
                changes = {path: committed.blobs.get(path) for path in contents if is_indexed(path)}
                return self._pass(Work(committed.id, changes, Looked(), readings=readings), keeps_moves=False)
        return self._bring_to(committed.id, WRITE_SECONDS, keeps_moves=False)

    def _refresh_elsewhere(self, work: Work, known: str) -> Report:
        """Answer from an index that can only be read, if it is right; else from another one."""
        if work.head == known and not self._is_news(work.looked):
            return self._as_it_is(known)
        self._go_elsewhere("read-only, and its index is of an earlier moment")
        return self._refresh(FIRST_SECONDS, thorough=True)

    def _is_news(self, looked: Looked) -> bool:
        """Say whether any file that looks changed has other bytes than are known."""
        for path in looked.paths:
            known = self.one("select blob from places where path = ?", (path,))
            seen = self._corpus.look(path)
            algorithm = "sha256" if known is not None and len(known) == 64 else "sha1"
            if known != (self._corpus.blob_id(seen.data, algorithm) if seen.state == "file" else None):
                return True
        return False

    def _share(self) -> tuple[int, int]:
        """Return which files' stamps are compared now."""
        now = self._clock.now_ms()
        files = int(self.one("select max(id) from places") or 0)  # the number of files, or somewhat more: at once
        if files > MANY_FILES and self._looked_at is not None and 0 <= now - self._looked_at < PAUSE_MS:
            return WATCHED
        self._looked_at = now
        return share_at(files, now)

    def _as_it_is(self, head: str) -> Report:
        """Return the report of a pass that had nothing to do."""
        return Report(head, problems=int(self.one("select count(*) from problems")))
