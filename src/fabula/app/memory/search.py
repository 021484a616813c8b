"""The verb ``memory search``: find memories by words, meaning, time and use. Searching changes no memory's standing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.kernel.values import frozen

if TYPE_CHECKING:
    from pathlib import Path

    from fabula.app.memory.access import MemoryAccess
    from fabula.app.wiring import App
    from fabula.memory.retrieval.values import Hit, Scope


@frozen
class SearchRequest:
    """What to look for, and where: by default memories of this repository and those of no workspace.

    ``as_of`` (ms): what was held to be true then, archived or not. ``workspace``: this one alone.
    """

    query: str
    type: tuple[str, ...] = ()
    workspace: str | None = None
    tag: tuple[str, ...] = ()
    entity: tuple[str, ...] = ()
    facet: tuple[str, ...] = ()
    as_of: int | None = None
    since: int | None = None
    until: int | None = None
    include_archived: bool = False
    all: bool = False
    limit: int | None = None
    offset: int = 0
    explain: bool = False
    corpus: Path | None = None


@frozen
class SearchResult:
    """What was found, best first; ``number`` counts all of it.

    ``arms`` had a say; ``degraded`` says why others had none. ``weak``: nothing found holds much of the question.
    ``scope_empty``: nothing was found and the scope was narrowed. ``is_listing``: a blank question lists the newest.
    """

    query: str
    scope: str
    hits: tuple[Hit, ...]
    number: int
    arms: tuple[str, ...]
    degraded: tuple[str, ...]
    weak: bool
    scope_empty: bool
    coverage: float
    is_listing: bool
    explain: bool
    notices: tuple[str, ...]


def search(app: App, request: SearchRequest) -> SearchResult:
    """Search the memories. Raises ``ERR_NO_CORPUS``, ``ERR_DATABASE``, ``ERR_LOCKED``, ``ERR_GIT``."""
    from fabula.memory.retrieval.values import Ask

    access = app.memory_at(request.corpus)
    index = access.refreshed()
    scope = scope_of(access, request)
    limit = request.limit or app.config["search.limit"]
    ask = Ask(request.query, access.clock.now_ms(), scope, limit, request.offset)
    answer = index.mended(lambda: access.retriever().search(ask))
    return SearchResult(
        request.query, scope.workspace or scope.home or "all", answer.hits, answer.number, answer.arms,
        answer.degraded, answer.weak and bool(answer.hits), answer.scope_empty, round(answer.coverage, 4),
        answer.is_listing, request.explain, access.notices,
    )  # fmt: skip


def scope_of(access: MemoryAccess, request: SearchRequest) -> Scope:
    """Return the scope that a request means: this repository's, unless it says otherwise. Raises ``ERR_USAGE``."""
    from fabula.app.memory.naming import entity_names
    from fabula.memory.retrieval.values import Scope

    everywhere = request.all or request.workspace is not None or access.config["search.scope"] == "all"
    return Scope(
        types=request.type,
        workspace=request.workspace,
        home=None if everywhere else access.home_workspace(),
        tags=request.tag,
        entities=entity_names(request.entity),
        facets=request.facet,
        as_of=request.as_of,
        archived=request.include_archived,
        since=request.since,
        until=request.until,
    )
