"""The verb ``record similar``: conversations like one that is known."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.app.record.finding import SearchHit, hits, read, searcher
from fabula.app.record.reading import clean, opening_of
from fabula.kernel.errors import FabulaError
from fabula.kernel.values import frozen
from fabula.record.reading.catalogue import thread_by_row, threads_of_session
from fabula.record.reading.identify import identify
from fabula.record.search.facets import telling_terms
from fabula.search.query import Query, Word

if TYPE_CHECKING:
    from fabula.app.access import Freshness
    from fabula.app.wiring import App

TERMS = 16


@frozen
class SimilarRequest:
    """``id``: a thread, or a session (its longest thread is taken)."""

    id: str
    all: bool = False
    limit: int | None = None


@frozen
class SimilarResult:
    """Threads like ``thread``, the most alike first, and the ``terms`` that they were compared by."""

    thread: str
    scope: str
    terms: tuple[str, ...]
    hits: tuple[SearchHit, ...]
    fresh: Freshness


def similar(app: App, request: SimilarRequest) -> SimilarResult:
    """Find conversations like one. Raises ``ERR_NOT_FOUND``, ``ERR_AMBIGUOUS``, ``ERR_NO_RECORD``."""
    from fabula.record.search.evidence import EvidenceReader

    fresh = app.refresh()
    target = identify(app.reader(), request.id, "thread", "session")
    row = target.id if target.kind == "thread" else _longest(app, target.id)
    thread = thread_by_row(app.reader(), row)
    opening = opening_of(app, row)
    terms = telling_terms(app.reader(), row, TERMS) or tuple(opening.split()[:TERMS])
    _, scope, name = read(app, "", everything=request.all)
    query = Query(opening, tuple(Word(term, phrase=" " in term) for term in terms if " " not in term))
    limit = request.limit or app.config["search.limit"]
    engine = searcher(app)
    found = engine.search(query, scope, limit=limit + 1)
    found.hits = [hit for hit in found.hits if hit.thread != row][:limit]
    reader = EvidenceReader(app.loader(), engine.tokenizer, found)
    shown = hits(app, found, reader, unit="thread", explain=False)
    return SimilarResult(thread.id, name, tuple(map(clean, terms)), shown, fresh)


def _longest(app: App, session: int) -> int:
    threads = threads_of_session(app.reader(), session)
    if not threads:
        raise FabulaError(
            "ERR_NOT_FOUND", "this session has no conversation to compare", "fabula record sessions --all"
        )
    return max(threads, key=lambda one: (one.characters, -one.row)).row
