"""The store: a repository, what is known of it, a clock. Each verb is a function of its own over it.

``with store.writing() as work`` holds the repository, with the index brought to HEAD: what is decided from
``work.base`` and ``store.known`` cannot change before ``work.commit``.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from fabula.kernel.errors import FabulaError
from fabula.memory.store.base import Base
from fabula.memory.store.guarding import refuse_secrets
from fabula.memory.store.moment import Moment
from fabula.storage.git.values import Move, Put

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from fabula.kernel.clock import Clock
    from fabula.memory.format.reader import Reading
    from fabula.memory.store.ports import Guard, Known, Near
    from fabula.storage.git.repo import Repo
    from fabula.storage.git.turn import Turn
    from fabula.storage.git.values import Change, Committed

WAIT_SECONDS = 20.0


class Store:
    """What every change needs. Used by one thread at a time, as the repository is."""

    def __init__(
        self,
        repo: Repo,
        known: Known,
        clock: Clock,
        guard: Guard,
        near: Near | None = None,
        wait_seconds: float = WAIT_SECONDS,
    ) -> None:
        self.repo = repo
        self.known = known
        self.near = near
        self._clock = clock
        self._guard = guard
        self._wait_seconds = wait_seconds

    def moment(self) -> Moment:
        """Return the moment that it is."""
        return Moment(self._clock.now_ms() // 1000)

    def refuse_secrets(self, texts: Iterable[str], *, is_allowed: bool = False) -> None:
        """Raise ``ERR_SECRET`` where a text holds what looks like a secret, unless a person allowed it."""
        if not is_allowed:
            refuse_secrets(self._guard, texts)

    @contextmanager
    def writing(self, moment: Moment | None = None) -> Iterator[Work]:
        """Hold the corpus for one change. Raises ``ERR_LOCKED``, ``ERR_READ_ONLY``."""
        with self.repo.writing(self._wait_seconds) as turn:
            self.known.bring_to(turn.head[0])
            yield Work(self, turn, moment or self.moment())


class Work:
    """One change in the making: the corpus at HEAD, the moment, and the commit. ``notices`` are for a person."""

    def __init__(self, store: Store, turn: Turn, moment: Moment) -> None:
        self.known = store.known
        self.base = Base(store.repo, turn.head)
        self.moment = moment
        self.notices: list[str] = []
        self._turn = turn

    def commit(
        self, message: str, changes: Sequence[Change], readings: Mapping[str, Reading] | None = None
    ) -> Committed | None:
        """Make the one commit of this change, and tell the index. ``None``: nothing had to change.

        ``readings``: of files that were read while they were made, so that the index need not read them again.

        Raises what :meth:`Turn.commit` does. An index that cannot take it in is no failure of the change: the commit
        stands, and the next reading brings the index up to it.
        """
        committed = self._turn.commit(changes, message, self.moment.git)
        if committed is None:
            return None
        self.notices += [f"{path} was changed in that very moment and left as it is" for path in committed.left]
        try:
            self.known.took(committed, contents_of(changes), readings)
        except (FabulaError, OSError) as error:
            self.notices.append(f"the index has not taken this in yet: {error}")
        return committed


def contents_of(changes: Iterable[Change]) -> dict[str, bytes | None]:
    """Return path -> bytes after some changes, ``None`` where nothing is left."""
    contents: dict[str, bytes | None] = {}
    for change in changes:
        if isinstance(change, Put):
            contents[change.path] = change.data
        elif isinstance(change, Move):
            assert change.data is not None, "every move of a memory writes its stamps"
            contents[change.source] = None
            contents[change.target] = change.data
        else:
            contents[change.path] = None
    return contents
