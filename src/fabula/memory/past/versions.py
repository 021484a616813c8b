"""The history of one memory: every commit that changed it, through the archive and through renames."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from fabula.kernel.errors import FabulaError
from fabula.kernel.values import frozen
from fabula.memory.format.paths import normalise
from fabula.memory.past.facts import Facts
from fabula.memory.past.subjects import operation_of, session_of
from fabula.memory.past.tracks import moves_among
from fabula.storage.git.history import resolve
from fabula.storage.git.logrows import log_rows
from fabula.storage.git.values import ABSENT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fabula.storage.git.logrows import LogRow, Touch
    from fabula.storage.git.program import Git
    from fabula.storage.git.repo import Repo

VersionKind = Literal["A", "M", "D", "R"]


@frozen
class Version:
    """A commit that changed a memory: ``at`` in seconds since 1970, ``path`` where it lay afterwards.

    ``kind``: ``A`` it came, ``M`` it changed, ``R`` it moved (from ``before``), ``D`` it went; ``blob`` is empty then.
    ``op`` is empty for a commit made by hand.
    """

    commit: str
    at: int
    op: str
    subject: str
    path: str
    blob: str
    kind: VersionKind
    before: str = ""
    session: str = ""


def versions_of(repo: Repo, path: str, *, commit: str = "HEAD", limit: int = 0) -> list[Version]:
    """Return the versions of a memory, newest first; ``limit`` 0: all.

    The path may be the present one, or any that it had: then its history ends where it moved on. Empty when no commit
    had such a file. Raises ``ERR_GIT``, ``ERR_NOT_FOUND`` for a name that is no commit.
    """
    git = repo.shop.git
    start = resolve(git, commit)
    if not start:
        raise FabulaError("ERR_NOT_FOUND", f"{commit!r} is no commit of {git.root}", f"git -C {git.root} log --oneline")
    facts = Facts(repo.shop.reader)
    found: list[Version] = []
    for version in _walk(git, facts, normalise(path), start):
        found.append(version)
        if limit and len(found) == limit:
            break
    return found


def _walk(git: Git, facts: Facts, path: str, start: str) -> Iterator[Version]:
    """Follow a path back, and then the path that it had before, until it was written."""
    seen: set[tuple[str, str]] = set()
    while start:
        following = ""
        for row in log_rows(git, start, "--", path):
            touch = next((one for one in row.touches if one.path == path), None)
            if touch is None or (row.commit, path) in seen:
                continue
            seen.add((row.commit, path))
            before = _before(git, facts, row, touch) if touch.old == ABSENT else ""
            yield _version(row, touch, before)
            if before:
                start, path, following = f"{row.commit}^", before, before
                break
        if not following:
            return


def _version(row: LogRow, touch: Touch, before: str) -> Version:
    operation, subject = operation_of(row.subject)
    kind: VersionKind = "R" if before else "A" if touch.old == ABSENT else "D" if touch.new == ABSENT else "M"
    return Version(row.commit, row.at, operation, subject, touch.path, touch.new, kind, before, session_of(row.message))


def _before(git: Git, facts: Facts, row: LogRow, came: Touch) -> str:
    """Return the path that a file had before the commit that brought it; empty when it is new."""
    if not row.parents:
        return ""
    whole = next(log_rows(git, "--max-count=1", row.commit))
    ids = {touch.path: touch for touch in whole.touches}
    gone = [touch.path for touch in whole.touches if touch.new == ABSENT]
    added = [touch.path for touch in whole.touches if touch.old == ABSENT]
    moved = moves_among(gone, added, lambda path: facts.name(ids[path].old), lambda path: facts.name(ids[path].new))
    return next((old for old, new in moved.items() if new == came.path), "")
