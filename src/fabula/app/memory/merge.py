"""The verb ``memory merge``: another branch, or a clone that was fetched, is taken into this corpus."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.kernel.values import field, frozen

if TYPE_CHECKING:
    from pathlib import Path

    from fabula.app.wiring import App
    from fabula.memory.merging.values import Merged


@frozen
class MergeRequest:
    """``ref``: any name of a commit that git knows."""

    ref: str
    session: str = ""
    corpus: Path | None = None


@frozen
class MergeResult:
    """What the merge did; ``kind`` is ``already``, ``forward`` or ``merge``."""

    kind: str
    commit: str
    parent: str
    theirs: str
    changed: list[str]
    removed: list[str]
    moved: list[tuple[str, str]]
    left: list[str]
    notices: list[str] = field(default_factory=list)


def merge(app: App, request: MergeRequest) -> MergeResult:
    """Merge and bring the index up to it.

    Raises ``ERR_WRITE_CONFLICT`` naming every path in conflict with its three blobs, ``ERR_NOT_FOUND``, ``ERR_GIT``,
    ``ERR_DIRTY``, ``ERR_NO_CORPUS``, ``ERR_LOCKED``, ``ERR_DISK``, ``ERR_READ_ONLY``.
    """
    from fabula.memory.merging.merge import merge as merged_into
    from fabula.memory.store.moment import Moment

    access = app.memory_at(request.corpus)
    done = merged_into(access.repo(), request.ref, Moment(app.clock.now_ms() // 1000).git, session=request.session)
    if done.kind != "already":
        access.refreshed()
        if done.moved:
            access.state().moved(list(done.moved), request.session)
    return _result(done, access.notices)


def _result(done: Merged, notices: tuple[str, ...]) -> MergeResult:
    return MergeResult(
        done.kind,
        done.commit,
        done.parent,
        done.theirs,
        list(done.changed),
        list(done.removed),
        list(done.moved),
        list(done.left),
        [*done.notices, *notices],
    )
