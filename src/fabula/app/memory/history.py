"""The verb ``memory history``: every commit that changed one memory, wherever it lay then."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.app.memory.changing import path_of
from fabula.kernel.values import frozen

if TYPE_CHECKING:
    from pathlib import Path

    from fabula.app.wiring import App
    from fabula.memory.past.versions import Version


@frozen
class HistoryRequest:
    """Whose history; the newest ``limit`` versions (null: all)."""

    path: str
    limit: int | None = None
    corpus: Path | None = None


@frozen
class HistoryResult:
    """The versions of a memory, newest first; ``at`` of each in seconds since 1970."""

    path: str
    versions: tuple[Version, ...]
    notices: tuple[str, ...]


def history(app: App, request: HistoryRequest) -> HistoryResult:
    """Return the history of a memory, also of one that is gone. Raises ``ERR_NO_MEMORY`` where none ever was."""
    from fabula.memory.past.versions import versions_of
    from fabula.memory.store.base import memory_path, no_memory

    access = app.memory_at(request.corpus)
    path = memory_path(path_of(access, request.path))
    versions = versions_of(access.repo(), path, limit=request.limit or 0)
    if not versions:
        raise no_memory(path)
    return HistoryResult(path, tuple(versions), access.notices)
