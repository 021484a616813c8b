"""The verbs ``memory archive`` and ``memory unarchive``: out of use and back. Both are moves; nothing is deleted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.app.memory.changing import located, path_of, provenance_of
from fabula.kernel.values import frozen

if TYPE_CHECKING:
    from pathlib import Path

    from fabula.app.wiring import App


@frozen
class ArchiveRequest:
    """Which memory goes to the archive, and why."""

    path: str
    reason: str = ""
    session: str = ""
    prompt: str = ""
    turn: str = ""
    corpus: Path | None = None


@frozen
class ArchiveResult:
    """Where the memory was, and where in the archive it is now."""

    path: str
    archived: str
    commit: str | None
    notices: tuple[str, ...]


@frozen
class UnarchiveRequest:
    """Which memory comes back: to where it was, or ``to`` another path."""

    path: str
    to: str | None = None
    reason: str = ""
    session: str = ""
    prompt: str = ""
    turn: str = ""
    corpus: Path | None = None


@frozen
class UnarchiveResult:
    """Where in the archive the memory was, and where it is now."""

    archived: str
    path: str
    commit: str | None
    notices: tuple[str, ...]


def archive(app: App, request: ArchiveRequest) -> ArchiveResult:
    """Move a memory to the archive. Raises ``ERR_NO_MEMORY``, ``ERR_WRITE_CONFLICT`` for what is there already."""
    from fabula.memory.store.archiving import archive as move

    access = app.memory_at(request.corpus)
    path = path_of(access, request.path)
    with located(access, path):
        done = move(access.store(), path, request.reason, provenance_of(request))
    access.state().done("archived", [done.archived], request.session, done.moves)
    return ArchiveResult(done.path, done.archived, done.commit, (*done.notices, *access.notices))


def unarchive(app: App, request: UnarchiveRequest) -> UnarchiveResult:
    """Bring a memory back. Raises ``ERR_NO_MEMORY``, ``ERR_WRITE_CONFLICT`` where its place or its fact is taken."""
    from fabula.memory.store.archiving import unarchive as move

    access = app.memory_at(request.corpus)
    path = path_of(access, request.path)
    with located(access, path):
        done = move(access.store(), path, request.reason, request.to, provenance_of(request))
    access.state().done("unarchived", [done.path], request.session, done.moves)
    return UnarchiveResult(done.archived, done.path, done.commit, (*done.notices, *access.notices))
