"""A list of memories as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.cli.render.memory_lines import day, notices, table

if TYPE_CHECKING:
    from fabula.app.memory.list import ListResult
    from fabula.cli.output import Out


def render(result: ListResult, out: Out) -> None:
    """Write one page and how to see more."""
    rows = [(one.path + ("*" if one.dirty else ""), one.type, day(one.updated), one.title) for one in result.memories]
    table(rows, out, heads=("path", "type", "updated", "title"))
    if any(one.dirty for one in result.memories):
        out.line(out.dim("* changed by hand and not committed: fabula memory commit"))
    if not result.memories:
        out.line("no memories" if not result.total else "no more memories")
    elif result.next_cursor is not None:
        out.line(out.dim(f"{len(result.memories)} of {result.total}; more: --cursor {result.next_cursor}"))
    else:
        out.line(out.dim(f"{result.total} in all"))
    notices(result.notices, out)
