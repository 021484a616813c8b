"""The memory as it was, as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.cli.render.memory_lines import SHORT, notices, table
from fabula.cli.render.record_lines import moment

if TYPE_CHECKING:
    from fabula.app.memory.at import AtResult
    from fabula.cli.output import Out


def render(result: AtResult, out: Out) -> None:
    """Write the one memory that was asked for, or the list of all."""
    if result.print_html and result.html is not None:
        out.raw(result.html.encode("utf-8", "replace"))
        return
    out.line(out.dim(f"as of {moment(result.committed_at * 1000)}, commit {result.commit[:SHORT]}"))
    if result.text is not None:
        (one,) = result.memories
        out.line(out.bold(one.title))
        out.line(out.dim(f"{one.path} · {one.type}"))
        out.line()
        out.line(result.text.strip())
    else:
        table([(one.path, one.type, one.title) for one in result.memories], out, heads=("path", "type", "title"))
        more = "; more: --limit, --folder" if result.total > len(result.memories) else ""
        out.line(out.dim(f"{len(result.memories)} of {result.total}{more}"))
    notices(result.notices, out)
