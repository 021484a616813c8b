"""The verb ``memory commit``: memory files that a person changed with an editor are checked and committed."""

from __future__ import annotations

from shlex import join, quote
from typing import TYPE_CHECKING

from fabula.kernel.errors import FabulaError
from fabula.kernel.values import field, frozen

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from fabula.app.wiring import App
    from fabula.memory.handmade.changes import HandChange


@frozen
class CommitRequest:
    """``paths``: files or folders in the corpus; none: all that changed. ``dry_run``: they are looked at alone.

    ``allow_secret``: a person is asked where a file holds what looks like a secret.
    """

    paths: tuple[str, ...] = ()
    dry_run: bool = False
    allow_secret: bool = False
    session: str = ""
    corpus: Path | None = None


@frozen
class Changed:
    """A changed file: ``kind`` is ``A`` new, ``M`` changed, ``D`` gone, ``R`` moved from ``before``.

    ``problems``: why it is no memory, each with its place and what puts it right.
    """

    path: str
    kind: str
    before: str
    title: str
    problems: list[str]


@frozen
class CommitResult:
    """``commit`` is empty where nothing was committed."""

    commit: str
    changes: list[Changed]
    notices: list[str] = field(default_factory=list)


def commit(app: App, request: CommitRequest) -> CommitResult:
    """Check the changed files and commit exactly them.

    Raises ``ERR_MEMORY_FORMAT`` with file, line and remedy, ``ERR_SECRET``, ``ERR_CONSENT``, ``ERR_NOT_FOUND``,
    ``ERR_NO_CORPUS``, ``ERR_DIRTY``, ``ERR_GIT``, ``ERR_LOCKED``, ``ERR_DISK``, ``ERR_READ_ONLY``.
    """
    from fabula.memory.handmade.changes import changes_of
    from fabula.memory.handmade.commit import commit_changes
    from fabula.memory.store.moment import Moment

    access = app.memory_at(request.corpus)
    repo = access.repo()
    seen = changes_of(repo, request.paths)
    if request.dry_run:
        return CommitResult("", [_changed(one) for one in seen], list(access.notices))
    _guard(request, seen)
    at = Moment(app.clock.now_ms() // 1000).git
    done = commit_changes(repo, request.paths, at, session=request.session, expected=seen)
    access.refreshed()
    if done.committed is not None:
        written = [one.path for one in done.changes if one.kind in {"A", "M"}]
        access.state().acted("edited", written, request.session)
    return CommitResult(
        done.committed.id if done.committed else "", [_changed(one) for one in done.changes], list(access.notices)
    )


def _guard(request: CommitRequest, changes: Sequence[HandChange]) -> None:
    """Refuse files that hold what looks like a secret, unless a person at a terminal allows it."""
    from fabula.memory.store.guarding import Secrets

    guard = Secrets()
    found = [
        f"{one.path}: {what}"
        for one in changes
        if one.data is not None
        for what in guard.placed(one.data.decode("utf-8", "replace"))
    ]
    if not found:
        return
    again = join(["fabula", "memory", "commit", *request.paths, "--allow-secret"])
    message = f"This looks like a secret: {'; '.join(found[:5])}; nothing was committed."
    if not request.allow_secret:
        raise FabulaError(
            "ERR_SECRET", message, f"take it out of {quote(found[0].partition(':')[0])}",
            f"a person may allow it, in a terminal: {again}",
        )  # fmt: skip
    from fabula.app.consent import require_consent

    require_consent([message, "Once committed, it goes wherever the repository goes."], "secret", again)


def _changed(one: HandChange) -> Changed:
    return Changed(one.path, one.kind, one.before, one.title, [str(finding) for finding in one.findings])
