"""A composed session: what goes in, what stays out, and how to open it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.cli.render.record_lines import counted, notes

if TYPE_CHECKING:
    from fabula.app.record.compose import ComposeResult
    from fabula.cli.output import Out


def render(result: ComposeResult, out: Out) -> None:
    """Write the session's threads in their order, its size, and the command that opens it or makes it."""
    out.line(out.bold(result.title))
    for thread in result.threads:
        out.line(f"  {thread.opening or '(no prompt)'}")
        tokens = f"~{counted(thread.tokens, 'token')}"
        facts = [thread.id, counted(thread.records, "record"), f"{thread.bytes:,} bytes", tokens]
        out.line(out.dim(f"    {' · '.join(facts)}"))
        if thread.left_out:
            left = ", ".join(f"{reason} ({count})" for reason, count in thread.left_out.items())
            out.line(out.dim(f"    left out: {left}"))
    size = f"{counted(result.records, 'record')}, {result.bytes:,} bytes, ~{counted(result.tokens, 'token')}"
    out.line(f"{counted(len(result.threads), 'thread')}, {size}, for {result.cwd}")
    for note in result.notes:
        out.line(out.dim(note))
    if result.applied:
        out.line(f"session {result.session}")
        out.line(out.dim(result.path))
        if result.resume:
            out.line(result.resume)
    else:
        out.line(out.dim(f"do it: {result.next}"))
    notes(result.fresh, out)
