"""The verbs ``memory state export`` and ``import``: what was read, reinforced and moved, shared through the corpus."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.kernel.values import frozen

if TYPE_CHECKING:
    from pathlib import Path

    from fabula.app.wiring import App


@frozen
class StateExportRequest:
    """Whose state."""

    session: str = ""
    corpus: Path | None = None


@frozen
class StateExportResult:
    """What was committed; ``commit`` is null where nothing was new. ``dropped`` entries added nothing."""

    commit: str | None
    replica: str
    entries: int
    dropped: int
    files: tuple[str, ...]
    notices: tuple[str, ...]


@frozen
class StateImportRequest:
    """Whose state."""

    corpus: Path | None = None


@frozen
class StateImportResult:
    """What all logs come to, of this machine and of others (``replicas``)."""

    replica: str
    replicas: int
    entries: int
    memories: int
    links: int
    packs: int
    unexported: int
    notices: tuple[str, ...]


def state_export(app: App, request: StateExportRequest) -> StateExportResult:
    """Commit what was logged on this machine. Raises ``ERR_NO_CORPUS``, ``ERR_LOCKED``, ``ERR_DIRTY``, ``ERR_GIT``."""
    from fabula.memory.state.exporting import export

    access = app.memory_at(request.corpus)
    at = f"{access.clock.now_ms() // 1000} +0000"
    done = export(access.state(), access.repo(), at, request.session)
    return StateExportResult(done.commit, done.replica, done.entries, done.dropped, done.files, access.notices)


def state_import(app: App, request: StateImportRequest) -> StateImportResult:
    """Fold every log anew. Raises ``ERR_NO_CORPUS``, ``ERR_LOCKED``, ``ERR_DISK``."""
    access = app.memory_at(request.corpus)
    found = access.state().refold()
    return StateImportResult(
        found.replica, found.replicas, found.entries, found.memories, found.links, found.packs, found.unexported,
        access.notices,
    )  # fmt: skip
