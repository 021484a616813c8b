"""The verb ``record timeline``: what happened when, by thread and by day."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.app.record.lines import ThreadLine, thread_line
from fabula.app.record.reading import given_titles, pinned, scope_of
from fabula.kernel.values import frozen
from fabula.record.reading.catalogue import list_threads
from fabula.record.reading.timeline import Day, Totals, days, totals

if TYPE_CHECKING:
    from fabula.app.access import Freshness
    from fabula.app.wiring import App


@frozen
class TimelineRequest:
    """Threads of this repository, or ``all``; ``since`` and ``until`` (excluded) in ms."""

    all: bool = False
    limit: int | None = None
    since: int | None = None
    until: int | None = None


@frozen
class TimelineResult:
    """The newest threads, and the days and totals of the whole window (days are UTC)."""

    scope: str
    totals: Totals
    by_day: tuple[Day, ...]
    threads: tuple[ThreadLine, ...]
    fresh: Freshness


def timeline(app: App, request: TimelineRequest) -> TimelineResult:
    """Tell what happened when. Raises ``ERR_NO_RECORD``, ``ERR_DATABASE``."""
    fresh = app.refresh()
    window, scope = scope_of(app, everything=request.all, since=request.since, until=request.until)
    by_day = days(app.reader(), window)
    titles, pins = given_titles(app, "thread"), pinned(app, "thread")
    rows = list_threads(app.reader(), window, limit=request.limit or app.config["search.limit"])
    lines = tuple(thread_line(app, row, titles, pins) for row in rows)
    return TimelineResult(scope, totals(by_day), tuple(by_day), lines, fresh)
