"""A list of sessions as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.cli.render.record_lines import counted, notes, session_line

if TYPE_CHECKING:
    from fabula.app.record.sessions import SessionsResult
    from fabula.cli.output import Out


def render(result: SessionsResult, out: Out) -> None:
    """Write one page of sessions and how to see more."""
    for line in result.sessions:
        session_line(line, out)
    shown = result.offset + len(result.sessions)
    where = "every project" if result.scope == "all" else result.scope
    if not result.sessions and result.total:
        out.line(f"no more: there are {counted(result.total, 'session')} in {where}; use a smaller --offset")
    elif not result.sessions:
        more = "" if result.scope == "all" else "; every project: fabula record sessions --all"
        out.line(f"no sessions in {where}{more}")
    elif shown < result.total:
        out.line(out.dim(f"{shown} of {result.total} in {where}; more: --offset {shown}"))
    else:
        out.line(out.dim(f"{result.total} in {where}"))
    notes(result.fresh, out)
