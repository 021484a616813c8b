"""A thread as text, or its records' bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.cli.render.record_lines import notes, thread_line

if TYPE_CHECKING:
    from fabula.app.record.thread import ThreadResult
    from fabula.cli.output import Out


def render(result: ThreadResult, out: Out) -> None:
    """Write the thread as it was rendered; raw records exactly, one a line; of a session the list of its threads."""
    if result.records:
        for record in result.records:
            out.raw(record.to_bytes() + b"\n")
        return
    if result.text:
        out.line(result.text)
    for line in result.threads:
        thread_line(line, out)
    if result.threads:
        out.line(out.dim("read one: fabula record thread ID"))
    elif not result.text:
        out.line(out.dim(f"session {result.session} has no threads"))
    notes(result.fresh, out, result.unreadable)
