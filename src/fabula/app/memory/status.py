"""The verb ``memory status``: what the memory holds and how it is, at a glance."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.kernel.values import frozen

if TYPE_CHECKING:
    from pathlib import Path

    from fabula.app.wiring import App
    from fabula.memory.index.values import Status
    from fabula.memory.state.values import Summary


@frozen
class StatusRequest:
    """Whose status."""

    corpus: Path | None = None


@frozen
class StatusResult:
    """Where the memory is, what it holds, and how finding by meaning is set up.

    ``uncommitted``: memories whose file differs from what is committed. ``vectors`` of the configured model's space;
    ``degraded`` says why there is no model.
    """

    root: str
    kind: str
    head: str
    uncommitted: int
    index: Status
    state: Summary
    duplicates: int
    dangling: int
    vectors: int
    degraded: str
    notices: tuple[str, ...]


def status(app: App, request: StatusRequest) -> StatusResult:
    """Return the status. Raises ``ERR_NO_CORPUS``, ``ERR_DATABASE``, ``ERR_GIT``."""
    from fabula.models.embedding import Unavailable

    access = app.memory_at(request.corpus)
    index = access.refreshed()
    found = index.status()
    embedder = access.embedder
    degraded = embedder.reason if isinstance(embedder, Unavailable) else ""
    spaces = () if isinstance(embedder, Unavailable) else (embedder.space, f"{embedder.space}/")
    vectors = sum(number for space, number in found.vectors.items() if spaces and space.startswith(spaces))
    return StatusResult(
        str(access.root), access.corpus().kind, found.head, found.dirty, found, access.state().summary(),
        len(index.duplicates()), len(index.dangling()), vectors, degraded, access.notices,
    )  # fmt: skip
