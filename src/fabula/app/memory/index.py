"""The verbs ``memory index rebuild``, ``update`` and ``status``: what answers questions is derived from the files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.kernel.values import frozen

if TYPE_CHECKING:
    from pathlib import Path

    from fabula.app.memory.access import MemoryAccess
    from fabula.app.wiring import App
    from fabula.memory.index.values import Problem, Report, Status


@frozen
class IndexRequest:
    """``embed``: make the vectors that are missing, too."""

    no_embed: bool = False
    corpus: Path | None = None


@frozen
class IndexResult:
    """What became of the index; paths are sorted. ``embedded`` vectors were made; ``degraded``: why none could be.

    ``problems`` are the files from which nothing is served, each with what puts it right.
    """

    head: str
    rebuilt: bool
    unchanged: bool
    added: tuple[str, ...]
    modified: tuple[str, ...]
    removed: tuple[str, ...]
    moved: tuple[tuple[str, str], ...]
    files: int
    embedded: int
    degraded: str
    problems: tuple[Problem, ...]
    notices: tuple[str, ...]


@frozen
class IndexStatusRequest:
    """Whose index."""

    corpus: Path | None = None


@frozen
class IndexStatusResult:
    """What the index holds. ``fresh``: it is as of ``head_now``, HEAD; ``space``: of the configured embedder."""

    status: Status
    head_now: str
    fresh: bool
    space: str
    problems: tuple[Problem, ...]
    notices: tuple[str, ...]


def index_rebuild(app: App, request: IndexRequest) -> IndexResult:
    """Make the index anew from HEAD and the work tree. Raises ``ERR_NO_CORPUS``, ``ERR_LOCKED``, ``ERR_DISK``."""
    access = app.memory_at(request.corpus)
    return _result(access, access.index().rebuild(), embeds=not request.no_embed)


def index_update(app: App, request: IndexRequest) -> IndexResult:
    """Take in what changed, every file looked at. Raises ``ERR_NO_CORPUS``, ``ERR_LOCKED``, ``ERR_DISK``."""
    access = app.memory_at(request.corpus)
    access.refreshed(thorough=True)
    report = access.report
    assert report is not None, "a refresh leaves its report"
    return _result(access, report, embeds=not request.no_embed)


def index_status(app: App, request: IndexStatusRequest) -> IndexStatusResult:
    """Say what the index holds, without bringing it up to date. Raises ``ERR_NO_CORPUS``, ``ERR_DATABASE``."""
    from fabula.models.embedding import Unavailable

    access = app.memory_at(request.corpus)
    index, head = access.index(), access.repo().head()
    embedder = access.embedder
    space = "" if isinstance(embedder, Unavailable) else embedder.space
    status = index.status()
    return IndexStatusResult(status, head, status.head == head, space, tuple(index.problems()), access.notices)


def _result(access: MemoryAccess, report: Report, *, embeds: bool) -> IndexResult:
    index = access.index()
    made, degraded = _embedded(access) if embeds else (0, "")
    return IndexResult(
        report.head, report.rebuilt, report.unchanged, tuple(report.added), tuple(report.modified),
        tuple(report.removed), tuple(report.moved), index.status().files, made, degraded, tuple(index.problems()),
        tuple(dict.fromkeys((*report.notices, *access.notices))),
    )  # fmt: skip


def _embedded(access: MemoryAccess) -> tuple[int, str]:
    from fabula.kernel.errors import FabulaError
    from fabula.models.embedding import Unavailable

    if isinstance(access.embedder, Unavailable):
        return 0, access.embedder.reason
    try:
        return access.retriever().prepare(), ""
    except FabulaError as error:
        return 0, error.message
