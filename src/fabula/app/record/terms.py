"""The verb ``record terms``: what the record speaks about."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.app.record.reading import clean, scope_of
from fabula.kernel.errors import FabulaError
from fabula.kernel.values import frozen, replace
from fabula.record.search.facets import KINDS, Facet, facets

if TYPE_CHECKING:
    from fabula.app.access import Freshness
    from fabula.app.wiring import App


@frozen
class TermsRequest:
    """Terms of one ``kind`` or of every kind, of this repository or ``all``; ``limit`` counts for each kind."""

    kind: str = ""
    all: bool = False
    limit: int | None = None


@frozen
class TermsResult:
    """The terms, by kind and then the most frequent first."""

    scope: str
    terms: tuple[Facet, ...]
    fresh: Freshness


def terms(app: App, request: TermsRequest) -> TermsResult:
    """Count terms. Raises ``ERR_USAGE`` for a kind that there is none of, ``ERR_NO_RECORD``, ``ERR_DATABASE``."""
    if request.kind and request.kind not in KINDS:
        raise FabulaError("ERR_USAGE", f"{request.kind} is no kind of term", f"kinds: {', '.join(KINDS)}")
    fresh = app.refresh()
    window, scope = scope_of(app, everything=request.all)
    kinds = (request.kind,) if request.kind else KINDS
    limit = request.limit or app.config["search.limit"]
    found = facets(app.reader(), kinds=kinds, projects=window.projects, limit=limit)
    return TermsResult(scope, tuple(replace(facet, term=clean(facet.term)) for facet in found), fresh)
