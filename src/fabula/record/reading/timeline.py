"""What happened when: totals of a window, day by day (UTC)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.kernel.tokens import estimate_tokens
from fabula.kernel.values import frozen
from fabula.record.reading.catalogue import thread_condition

if TYPE_CHECKING:
    import apsw

    from fabula.record.reading.catalogue import Window

TOP_PROJECTS = 3


@frozen
class Totals:
    """Threads, their records, and the estimated tokens of their prose."""

    threads: int
    records: int
    tokens: int


@frozen
class Day:
    """One UTC day (``YYYY-MM-DD``, "" when unknown) and the projects with most threads on it."""

    date: str
    threads: int
    records: int
    tokens: int
    top_projects: tuple[str, ...]


def days(connection: apsw.Connection, window: Window) -> list[Day]:
    """Return the days on which threads of the window began, newest first."""
    where, values = thread_condition(window)
    statement = f"""
        select coalesce(date(t.first_time / 1000, 'unixepoch'), '') as day, coalesce(p.label, '?'),
               count(*), sum(t.records), sum(t.characters)
          from threads t join sessions s on s.id = t.session_id left join projects p on p.id = s.project_id
         where {where} group by day, 2 order by day desc, count(*) desc, 2"""
    found: dict[str, list[tuple[str, int, int, int]]] = {}
    for day, *facts in connection.execute(statement, values):
        found.setdefault(day, []).append((facts[0], facts[1], facts[2], facts[3]))
    return [_day(date, projects) for date, projects in found.items()]


def totals(by_day: list[Day]) -> Totals:
    """Add up days."""
    return Totals(sum(d.threads for d in by_day), sum(d.records for d in by_day), sum(d.tokens for d in by_day))


def _day(date: str, projects: list[tuple[str, int, int, int]]) -> Day:
    return Day(
        date,
        sum(threads for _, threads, _, _ in projects),
        sum(records for _, _, records, _ in projects),
        estimate_tokens(sum(characters for _, _, _, characters in projects)),
        tuple(label for label, *_ in projects[:TOP_PROJECTS]),
    )
