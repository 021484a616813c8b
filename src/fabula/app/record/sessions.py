"""The verb ``record sessions``: a list of sessions, pinned ones first, then the one last active."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.app.record.lines import SessionLine, session_line
from fabula.app.record.reading import given_titles, pinned, scope_of
from fabula.kernel.values import frozen
from fabula.record.reading.catalogue import count_sessions, list_sessions

if TYPE_CHECKING:
    from fabula.app.access import Freshness
    from fabula.app.wiring import App


@frozen
class SessionsRequest:
    """Sessions of this repository, or ``all``; ``since`` and ``until`` (excluded) in ms."""

    all: bool = False
    limit: int | None = None
    offset: int = 0
    since: int | None = None
    until: int | None = None
    host: str | None = None


@frozen
class SessionsResult:
    """One page of ``total`` sessions in ``scope`` (a project's label, or ``all``)."""

    scope: str
    total: int
    offset: int
    sessions: tuple[SessionLine, ...]
    fresh: Freshness


def sessions(app: App, request: SessionsRequest) -> SessionsResult:
    """List sessions. Raises ``ERR_NO_RECORD``, ``ERR_DATABASE``."""
    fresh = app.refresh()
    reader = app.reader()
    window, scope = scope_of(
        app, everything=request.all, host=request.host or "", since=request.since, until=request.until
    )
    titles, pins = given_titles(app, "session"), pinned(app, "session")
    limit = request.limit or app.config["search.limit"]
    rows = list_sessions(reader, window, limit=limit, offset=request.offset, pinned=sorted(pins))
    lines = tuple(session_line(app, row, titles, pins) for row in rows)
    return SessionsResult(scope, count_sessions(reader, window), request.offset, lines, fresh)
