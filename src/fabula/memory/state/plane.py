"""The state plane of one corpus: what was read, how it served, who used it. What is logged lies in ``.fabula/log``.

Writing appends a line and needs neither database nor git; asking first takes in what is new. No reading changes a
tracked file. Where the corpus cannot be written nothing is logged, which ``notices`` says, and questions are answered.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Self

from fabula.kernel.errors import FabulaError
from fabula.kernel.ids import derived_id
from fabula.memory.standing.reinforcement import EMPTY, State, key_of
from fabula.memory.state.entries import (
    CORRECTED,
    CORROBORATED,
    CORROBORATED_NAME,
    HANDED,
    MOVED,
    NEGATIVE,
    PATHS_LIMIT,
    POSITIVE,
    READ,
    WROTE,
    Entry,
)
from fabula.memory.state.logbook import Logbook
from fabula.memory.state.sources import FOLDER
from fabula.memory.state.values import Reinforced

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path
    from typing import Protocol

    import apsw

    from fabula.kernel.clock import Clock
    from fabula.memory.state.folding import Corroboration, Link
    from fabula.memory.state.values import Pack, Summary

    class SeenMove(Protocol):
        """A rename that the index saw, at ``seen`` (ms)."""

        @property
        def old(self) -> str: ...
        @property
        def new(self) -> str: ...
        @property
        def seen(self) -> int: ...


KIND_OF = {"neutral": READ, "positive": POSITIVE, "negative": NEGATIVE}
_NOT_LOGGED = frozenset(("ERR_READ_ONLY", "ERR_DISK", "ERR_PATH", "ERR_LOCKED"))


class StatePlane:
    """The state of the corpus at ``root``. Making it opens nothing; one thread at a time."""

    def __init__(self, root: Path, clock: Clock, entropy: Callable[[int], bytes] = os.urandom) -> None:
        self.root = root
        self.file = root / FOLDER / "state.db"
        self.logbook = Logbook(root, clock, entropy)
        self.notices: list[str] = []
        self._connection: apsw.Connection | None = None

    # ── logging ──────────────────────────────────────────────────────

    def read(self, paths: Iterable[str], session: str = "") -> bool:
        """Log that somebody opened some memories; say whether it was logged, as all below."""
        return self._log(Entry("", 0, READ, path, session=session) for path in _distinct(paths))

    def done(self, action: str, paths: Iterable[str], session: str = "", moves: Iterable[tuple[str, str]] = ()) -> bool:
        """Log what a commit did: first where files went, then an action (``wrote``, ``corrected``, …) on some paths."""
        moved = [Entry("", 0, MOVED, key_of(old), key_of(new), session) for old, new in moves]
        return self._log([*moved, *(Entry("", 0, action, path, session=session) for path in _distinct(paths))])

    def wrote(self, paths: Iterable[str], session: str = "") -> bool:
        """Log that new memories were committed at some paths."""
        return self.done(WROTE, paths, session)

    def corrected(self, path: str, session: str = "", moves: Iterable[tuple[str, str]] = ()) -> bool:
        """Log that the memory at ``path`` was committed as the correction of another, which went as ``moves`` say."""
        return self.done(CORRECTED, [path], session, moves)

    def moved(self, moves: Iterable[tuple[str, str]], session: str = "") -> bool:
        """Log where files went, after the commit that moved them."""
        return self.done("", (), session, moves)

    def acted(self, action: str, paths: Iterable[str], session: str = "") -> bool:
        """Log anything else that a session did with some memories."""
        return self.done(action, paths, session)

    def reinforce(self, paths: Iterable[str], signal: str, session: str = "") -> list[Reinforced]:
        """Log word of how some memories served; return what it came to.

        Word is nothing but its logging, so it is an error where a reading would only be a notice. Raises ``ERR_USAGE``
        for an unknown signal, ``ERR_READ_ONLY``, ``ERR_DISK``, ``ERR_PATH``, ``ERR_LOCKED``.
        """
        kind = KIND_OF.get(signal)
        if kind is None:
            raise FabulaError("ERR_USAGE", f"{signal!r} is no signal: {', '.join(KIND_OF)}")
        asked = _distinct(paths)
        before = self.states(asked)
        self.logbook.write([Entry("", 0, kind, path, session=session) for path in asked])
        after = self.states(asked)
        return [
            Reinforced(path, _counts(before.get(path, EMPTY), after.get(path, EMPTY)), after.get(path, EMPTY))
            for path in asked
        ]

    def handed_out(self, paths: Iterable[str], *, reader: str, session: str = "", query: str = "") -> str:
        """Log that a pack gave some memories to a reader; return its id, empty when it could not be logged."""
        pack = Entry("", 0, HANDED, session=session, reader=reader, query=query, paths=_distinct(paths)[:PATHS_LIMIT])
        written = self._write([pack])
        return written[0].id if written else ""

    def take_moves(self, moves: Iterable[SeenMove]) -> int:
        """Log renames that the index saw, each once however often it is handed in; return how many were new."""
        new = {derived_id("move", move.old, move.new, move.seen): move for move in moves}
        if not new:
            return 0
        known = {uid for uid in new if self._current().execute("select 1 from entries where id=?", (uid,)).fetchone()}
        drafts = [
            Entry(uid, move.seen, MOVED, key_of(move.old), key_of(move.new))
            for uid, move in new.items()
            if uid not in known
        ]
        return len(self._write(drafts))

    def corroborate(self, source: str, relation: str, target: str, verdict: str = "seen") -> bool:
        """Log that a guessed edge was seen once more, or what became of it."""
        return self._log([Entry("", 0, CORROBORATED, key_of(source), key_of(target), "", relation, verdict)])

    def corroborate_entity(self, kind: str, alias: str, canonical: str, verdict: str = "seen") -> bool:
        """Log that a name was taken for another of the same entity, or what became of it."""
        return self._log([Entry("", 0, CORROBORATED_NAME, f"{kind}:{alias}", canonical, verdict=verdict)])

    # ── asking ───────────────────────────────────────────────────────

    def states(self, paths: Iterable[str]) -> dict[str, State]:
        """Return the states of some memories by path; one that nobody used is left out. Raises ``ERR_DATABASE``."""
        from fabula.memory.state import asking

        return asking.states(self._current(), paths)

    def links_of(self, session: str) -> list[Link]:
        """Return what a session did with which memories, by time."""
        from fabula.memory.state import asking

        return asking.links_of(self._current(), session)

    def sessions_of(self, path: str) -> list[Link]:
        """Return which sessions had to do with a memory, by time."""
        from fabula.memory.state import asking

        return asking.sessions_of(self._current(), path)

    def sessions_named(self, beginning: str) -> list[str]:
        """Return the sessions whose ids begin so, a hundred at most."""
        from fabula.memory.state import asking

        return asking.sessions_named(self._current(), beginning)

    def packs_with(self, path: str) -> list[Pack]:
        """Return the packs that handed a memory out on this machine, newest first."""
        from fabula.memory.state import asking

        return asking.packs_with(self._current(), path)

    def corroborations(self) -> list[Corroboration]:
        """Return what was said of guesses."""
        from fabula.memory.state import asking

        return asking.corroborations(self._current())

    def where(self, path: str) -> str:
        """Return where the memory that last had a path is now, as far as the logs know."""
        from fabula.memory.state import asking

        return asking.where(self._current(), path)

    def summary(self) -> Summary:
        """Return what there is, in numbers."""
        from fabula.memory.state.summing import summed

        return summed(self._current(), self.root, self.logbook.known())

    def attach(self, connection: apsw.Connection, name: str = "state") -> bool:
        """Attach the tables to a connection of the caller, brought up to date; ``False`` where they are not on disk."""
        from fabula.memory.state.opening import is_kept

        if not is_kept(self._current()):
            return False
        attached = {str(row[1]) for row in connection.execute("pragma database_list")}
        if name not in attached:
            connection.execute(f'attach database ? as "{name}"', (os.fspath(self.file),))
        return True

    # ── keeping ──────────────────────────────────────────────────────

    def refold(self) -> Summary:
        """Throw the tables away and fold every log anew. Raises ``ERR_LOCKED``, ``ERR_DISK``."""
        from fabula.memory.state.opening import changing
        from fabula.memory.state.updating import fold_anew

        connection = self._opened()
        with changing(connection, self.file):
            fold_anew(connection, self.root)
        return self.summary()

    def forget(self, paths: Sequence[str], text: str = "") -> int:
        """Take the lines about some paths, and questions that hold a text, out of the local log; return how many.

        Tracked logs are the caller's.
        """
        from fabula.memory.state.compacting import forget_lines

        gone = forget_lines(self.root, paths, text)
        self.refold()
        return gone

    def close(self) -> None:
        """Close the database."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _opened(self) -> apsw.Connection:
        from fabula.memory.state.opening import open_state

        if self._connection is None:
            self._connection = open_state(self.file)
        return self._connection

    def _current(self) -> apsw.Connection:
        """Return the tables, brought up to date; where another process holds them, as they are."""
        from fabula.memory.state.compacting import compact, is_crowded
        from fabula.memory.state.opening import changing
        from fabula.memory.state.updating import is_current, update

        connection = self._opened()
        if not is_current(connection, self.root):
            try:
                if is_crowded(self.root):
                    compact(self.root)
                with changing(connection, self.file):
                    update(connection, self.root)
            except FabulaError as error:
                if error.code not in _NOT_LOGGED:
                    raise
                self._notice(f"the counts of readings are not up to date: {error.message}")
        return connection

    def _log(self, drafts: Iterable[Entry]) -> bool:
        wanted = [draft for draft in drafts if draft.path]
        return not wanted or bool(self._write(wanted))

    def _write(self, drafts: Sequence[Entry]) -> list[Entry]:
        try:
            return self.logbook.write(drafts)
        except FabulaError as error:
            if error.code not in _NOT_LOGGED:
                raise
            self._notice(f"not counted: {error.message}")
            return []

    def _notice(self, text: str) -> None:
        if text not in self.notices:
            self.notices.append(text)


def _distinct(paths: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(key for path in paths if (key := key_of(path))))


def _counts(before: State, after: State) -> bool:
    return (before.accesses, before.reinforcements) != (after.accesses, after.reinforcements)
