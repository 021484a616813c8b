"""A git repository that is written: the one door for commits, and for reading what they hold.

``with repo.writing() as turn`` holds both locks (see :mod:`locking`): what is decided from ``turn.head`` cannot change
before ``turn.commit``. A repository is used by one thread at a time; close it, or use it in ``with``.
"""

from __future__ import annotations

import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Self

from fabula.kernel.errors import FabulaError
from fabula.storage.git.durable import sync_folders
from fabula.storage.git.locking import Locks
from fabula.storage.git.replacing import finish, is_pending
from fabula.storage.git.settling import place_new_index, settle_files, settle_index
from fabula.storage.git.turn import Turn
from fabula.storage.git.workshop import Workshop

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from fabula.storage.git.journal import Plan
    from fabula.storage.git.values import Change, Committed

WAIT_SECONDS = 20.0
MANY_FOLDERS = 256  # folders that are synced each by itself


class Repo:
    """A repository with a work tree.

    ``environ`` is the user's environment. ``hooks``: run the user's hooks (pre-commit, commit-msg, post-commit); none
    runs otherwise. Raises ``ERR_PATH`` and ``ERR_GIT`` as :func:`located`.
    """

    def __init__(self, root: Path, environ: Mapping[str, str], *, hooks: bool = False) -> None:
        self.shop = Workshop(root, environ, hooks=hooks)
        self._locks = Locks(self.shop.place)
        self.repair()

    def head(self) -> str:
        """Return the commit that HEAD is; empty when nothing was committed yet."""
        return self.shop.head()[0]

    @contextmanager
    def writing(self, wait_seconds: float = WAIT_SECONDS) -> Iterator[Turn]:
        """Hold the repository for a commit. Raises ``ERR_LOCKED``, ``ERR_READ_ONLY``."""
        deadline = time.monotonic() + wait_seconds
        self._locks.take_ours(wait_seconds)
        try:
            self._settle(deadline)
            self._locks.take_index(max(0.0, deadline - time.monotonic()))
            try:
                yield Turn(self.shop, deadline, self._finish_own)
            finally:
                self._settle(deadline)
        finally:
            self._locks.free_ours()

    def commit(
        self, changes: Iterable[Change], message: str, at: str, *, wait_seconds: float = WAIT_SECONDS
    ) -> Committed | None:
        """Make one commit of some changes; ``None`` when they change nothing. ``at``: ``1700000000 +0000``.

        Raises as :meth:`Turn.commit`.
        """
        with self.writing(wait_seconds) as turn:
            return turn.commit(changes, message, at)

    def repair(self) -> None:
        """Complete or clear what a stopped process left. Does nothing while another one writes."""
        if self.shop.desk.is_clear() and not self._locks.is_left_over() and not is_pending(self.shop):
            return
        with suppress(FabulaError):  # a writer is at work, or nothing can be written here: readers go on
            self._locks.take_ours(0.0)
            try:
                self._settle(time.monotonic())
            finally:
                self._locks.free_ours()

    def close(self) -> None:
        """End the processes that serve this repository."""
        self.shop.reader.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _finish_own(self, plan: Plan) -> tuple[str, ...]:
        """End a commit of this very turn, which goes on."""
        return self._finish(plan, trusts_new_index=True, keeps_lock=True)

    def _finish(self, plan: Plan, *, trusts_new_index: bool, keeps_lock: bool = False) -> tuple[str, ...]:
        """Bring index and work tree to a commit that HEAD is; the index is locked. Return paths left to a person."""
        if trusts_new_index:
            place_new_index(self.shop)
        else:
            settle_index(self.shop, plan)
        left = settle_files(self.shop, plan)
        self._sync(plan)
        self.shop.desk.clear()
        if not keeps_lock:
            self._locks.free_index()
        return left

    def _settle(self, deadline: float) -> None:
        """Complete or clear what is in the making: a commit, then the replacing of a history that it began."""
        self._settle_commit(deadline)
        if is_pending(self.shop):
            finish(self.shop)

    def _settle_commit(self, deadline: float) -> None:
        """Complete the commit in the making if HEAD is it, else clear it.

        Our lock is held; git's lock on the index is free afterwards.
        """
        plan = None if self.shop.desk.is_clear() else self.shop.desk.plan()
        if plan is None or self.shop.head()[0] != plan.commit:
            self._locks.free_index()
            if not self.shop.desk.is_clear():
                self.shop.desk.clear()
            return
        if not self._locks.is_left_over():
            self._locks.take_index(max(0.0, deadline - time.monotonic()))
        self._finish(plan, trusts_new_index=False)

    def _sync(self, plan: Plan) -> None:
        """Make the renames durable: of the ref, the index, the files."""
        folders = {self.shop.place.root.joinpath(*edit.path.split("/")[:-1]) for edit in plan.edits}
        some = sorted(folders)[:MANY_FOLDERS]
        sync_folders([self.shop.place.common / "refs" / "heads", self.shop.place.own, *some])
