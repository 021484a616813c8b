"""The verb ``record search``: find conversations by what was said and done."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from fabula.app.record.finding import SearchHit, hits, read, searcher
from fabula.kernel.values import frozen

if TYPE_CHECKING:
    from fabula.app.access import Freshness
    from fabula.app.wiring import App


@frozen
class SearchRequest:
    """What to look for, where (this repository, or ``all``), and which results to return."""

    query: str
    all: bool = False
    limit: int | None = None
    offset: int = 0
    sort: Literal["relevance", "recent"] = "relevance"
    by: Literal["thread", "record"] = "thread"
    explain: bool = False


@frozen
class SearchResult:
    """The results, best first. ``number`` counts all candidates.

    ``weak``: even the best holds so little of the query that it may be beside the point. ``corrections`` are words that
    occur nowhere and what was looked for instead; ``meaning`` tells of thread vectors: asked, not asked, or why not.
    """

    query: str
    scope: str
    hits: tuple[SearchHit, ...]
    number: int
    weak: bool
    coverage: float
    corrections: dict[str, str]
    meaning: str
    explain: bool
    fresh: Freshness


def search(app: App, request: SearchRequest) -> SearchResult:
    """Search the record. Raises ``ERR_QUERY``, ``ERR_NO_RECORD``, ``ERR_DATABASE``."""
    from fabula.record.search.evidence import EvidenceReader

    fresh = app.refresh()
    query, scope, name = read(app, request.query, everything=request.all)
    engine = searcher(app)
    limit = request.limit or app.config["search.limit"]
    found = engine.search(query, scope, limit=limit, offset=request.offset, unit=request.by, order=request.sort)
    reader = EvidenceReader(app.loader(), engine.tokenizer, found, scope.kinds)
    shown = hits(app, found, reader, unit=request.by, explain=request.explain)
    return SearchResult(
        request.query, name, shown, found.number, found.weak and bool(shown), round(found.coverage, 4),
        found.corrections, found.meaning, request.explain, fresh,
    )  # fmt: skip
