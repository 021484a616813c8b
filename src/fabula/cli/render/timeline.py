"""A timeline as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.cli.render.record_lines import notes, thread_line

if TYPE_CHECKING:
    from fabula.app.record.timeline import TimelineResult
    from fabula.cli.output import Out

DAYS_SHOWN = 14
BAR = 30


def render(result: TimelineResult, out: Out) -> None:
    """Write the last days as bars, then the newest threads."""
    where = "every project" if result.scope == "all" else result.scope
    total = result.totals
    out.line(out.bold(f"{where}: {total.threads} threads, {total.records} records, ~{total.tokens} tokens"))
    most = max((day.threads for day in result.by_day), default=1)
    for day in result.by_day[:DAYS_SHOWN]:
        bar = "█" * max(1, round(BAR * day.threads / most))
        out.line(f"{day.date or '(no time)':10}  {day.threads:4} {bar}  {out.dim(', '.join(day.top_projects))}")
    if len(result.by_day) > DAYS_SHOWN:
        out.line(out.dim(f"and {len(result.by_day) - DAYS_SHOWN} earlier days (--json lists all)"))
    out.line()
    for line in result.threads:
        thread_line(line, out, project=result.scope == "all")
    if not result.threads and result.scope != "all":
        out.line(out.dim("every project: fabula record timeline --all"))
    notes(result.fresh, out)
