"""The verb ``memory resolve``: where a path leads now, over moves, archivings and corrections."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.app.memory.changing import path_of
from fabula.kernel.values import frozen

if TYPE_CHECKING:
    from pathlib import Path

    from fabula.app.wiring import App
    from fabula.memory.past.resolving import Hop


@frozen
class ResolveRequest:
    """The path that somebody wrote down once."""

    path: str
    corpus: Path | None = None


@frozen
class ResolveResult:
    """Where it leads.

    ``stop_reason``: ``live`` a memory that holds; ``archived`` one that was put away without a successor; ``unindexed``
    nothing is known of it; ``cycle``, ``hop_limit``. ``pinned_uri`` names what was found for ever.
    """

    requested: str
    path: str
    hops: int
    steps: tuple[Hop, ...]
    stop_reason: str
    title: str
    commit: str
    pinned_uri: str
    notices: tuple[str, ...]

    @property
    def exit_status(self) -> int:
        """Whether it leads to anything."""
        return 0 if self.stop_reason in {"live", "archived"} else 1


def resolve(app: App, request: ResolveRequest) -> ResolveResult:
    """Follow a path forward. Raises ``ERR_PATH`` for what is no path of a memory."""
    from fabula.memory.past.resolving import resolve as follow
    from fabula.memory.store.base import memory_path

    access = app.memory_at(request.corpus)
    index = access.refreshed()
    path = memory_path(path_of(access, request.path))
    found = follow(access.repo(), path, successor=lambda one: index.successors_of([one]).get(one))
    return ResolveResult(
        found.requested, found.path, found.hops, found.steps, found.stop_reason, found.title, found.commit,
        found.pinned_uri, access.notices,
    )  # fmt: skip
