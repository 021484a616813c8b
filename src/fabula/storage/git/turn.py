"""A turn at writing: both locks are held, HEAD is known, and one commit after another may be made."""

from __future__ import annotations

import time
from shlex import quote
from typing import TYPE_CHECKING

from fabula.kernel.errors import FabulaError
from fabula.storage.git.checking import IgnoreQuestion
from fabula.storage.git.committing import RefMove, Text, blobs_of, drafted, prepared
from fabula.storage.git.joining import joined
from fabula.storage.git.values import ABSENT, Committed, Entry, Move, Put

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from fabula.storage.git.committing import Draft
    from fabula.storage.git.joining import Wanted
    from fabula.storage.git.journal import Plan
    from fabula.storage.git.values import Change
    from fabula.storage.git.workshop import Workshop

RETRY_SECONDS = 0.02


class Turn:
    """What may be asked and done while the locks are held. ``head`` is (commit, tree)."""

    def __init__(self, shop: Workshop, deadline: float, finish: Callable[[Plan], tuple[str, ...]]) -> None:
        self._shop = shop
        self._deadline = deadline
        self._finish = finish
        self.head = shop.head()

    def find(self, path: str) -> Entry | None:
        """Return what a path is at HEAD."""
        trees = self._shop.trees()
        return trees.find(self.head[1], path) if self.head[1] != ABSENT else None

    def commit(
        self, changes: Iterable[Change], message: str, at: str, *, ignored_too: bool = False
    ) -> Committed | None:
        """Make one commit of some changes; ``None`` when they change nothing.

        ``message`` is whole (see :func:`message_text`); ``at`` is git's form of a moment, ``1700000000 +0000``.
        ``ignored_too``: also paths that git is told to ignore. Raises ``ERR_WRITE_CONFLICT`` where something else is at
        a path, ``ERR_DIRTY`` where a person's change is, ``ERR_PATH`` for paths that may not be written, ``ERR_GIT``
        when HEAD is no branch or git refuses, ``ERR_LOCKED`` when others move the branch all the time, ``ERR_DISK``,
        ``ERR_READ_ONLY``.
        """
        wanted = list(changes)
        new = [] if ignored_too else [path for path in map(_new_path, wanted) if path]
        branch = self._branch()
        text = Text(message, at)
        question = IgnoreQuestion(self._shop.git, new)
        try:
            while True:
                draft = drafted(self._shop, wanted, self.head)
                if draft is None:
                    return None
                plan = self._attempt(draft, text, question)
                if self.head[0] == plan.commit:
                    break
                self._wait(branch)
        finally:
            question.close()
        left = self._finish(plan)
        self.head = (plan.commit, draft.tree)
        if self._shop.hooks is not None:
            self._shop.hooks.after()
        return Committed(plan.commit, plan.parent, blobs_of(plan.edits), left)

    def join(
        self,
        wanted: Mapping[str, Wanted | None],
        message: str,
        at: str,
        *,
        parents: tuple[str, ...] = (),
        ready: str = "",
    ) -> Committed | None:
        """Make one commit that follows ``parents``, or go on to one that is ``ready``; HEAD's branch moves to it.

        ``wanted``: path -> the file that is to be there, ``None`` for no file; all other paths stay as they are. Unlike
        :meth:`commit` this makes a commit that changes no file, too. ``None``: others moved the branch meanwhile; what
        was decided from ``head`` has to be decided anew. Raises as :meth:`commit`.
        """
        self._branch()
        text = Text(message, at)
        draft = joined(self._shop, wanted, self.head, parents=parents, ready=ready)
        plan = self._attempt(draft, text, IgnoreQuestion(self._shop.git, ()))
        if self.head[0] != plan.commit:
            self._shop.desk.clear()
            return None
        left = self._finish(plan)
        self.head = (plan.commit, draft.tree)
        if self._shop.hooks is not None:
            self._shop.hooks.after()
        return Committed(plan.commit, plan.parent, blobs_of(plan.edits), left)

    def _attempt(self, draft: Draft, text: Text, question: IgnoreQuestion) -> Plan:
        """Write the commit and try to move the ref; where HEAD is afterwards is what counts."""
        ref = RefMove(self._shop, text)
        try:
            question.answer()
            plan = prepared(self._shop, draft, text)
            ref.move(plan)
        finally:
            ref.close()
        self.head = self._shop.head()
        return plan

    def _wait(self, branch: str) -> None:
        """Make ready for another attempt: someone moved the branch, or holds its lock."""
        self._shop.desk.clear()
        if time.monotonic() >= self._deadline:
            raise FabulaError(
                "ERR_LOCKED",
                f"{self._shop.place.root}: {branch} could not be moved: others move it, or hold its lock",
                "repeat the command",
                f"if no git runs here any more: rm {quote(str(self._shop.place.common / branch))}.lock",
            )
        time.sleep(RETRY_SECONDS)

    def _branch(self) -> str:
        """Return the branch that HEAD names. Raises ``ERR_GIT`` when it names none: a commit would be lost there."""
        place, git = self._shop.place, self._shop.git
        said = (place.own / "HEAD").read_text(encoding="utf-8", errors="replace").strip()
        branch = said.removeprefix("ref: ")
        if branch == said or branch.endswith("/.invalid"):
            branch = git.run("symbolic-ref", "--quiet", "HEAD", allowed=(0, 1)).out.decode("utf-8", "replace").strip()
        if not branch:
            where = quote(str(place.root))
            rebases = any((place.own / name).exists() for name in ("rebase-merge", "rebase-apply"))
            remedy = f"git -C {where} rebase --continue" if rebases else f"git -C {where} switch -"
            raise FabulaError(
                "ERR_GIT",
                f"{place.root}: HEAD is on no branch{' (a rebase is under way)' if rebases else ''}: a commit here "
                "would be lost with the next switch",
                remedy,
                f"git -C {where} switch --create NAME",
            )
        return branch


def _new_path(change: Change) -> str:
    """Return the path that a change makes, if it makes one."""
    if isinstance(change, Put):
        return change.path if change.replaces == ABSENT else ""
    return change.target if isinstance(change, Move) else ""
