"""Threads taken out of a session, or which could be."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.cli.render.record_lines import counted
from fabula.kernel.commands import record_command

if TYPE_CHECKING:
    from fabula.app.record.excise import ExcisedThread, ExciseResult, SuggestedThread
    from fabula.cli.output import Out


def render(result: ExciseResult, out: Out) -> None:
    """Write what goes, what stays of it and why, and the file's size before and after."""
    if not result.threads:
        _suggestions(result, out)
        return
    for thread in result.threads:
        _thread(thread, out)
    out.line(f"{result.path}")
    change = f"{result.before:,} → {result.after:,} bytes"
    out.line(f"{counted(result.dropped, 'line')} {'went' if result.applied else 'would go'}, {change}")
    for note in _notes(result):
        out.line(out.dim(f"  {note}"))
    if result.applied:
        out.line(out.dim(f"put it back: {record_command('undo', result.session)}"))
    else:
        out.line(out.dim("nothing was written; with --apply it is"))


def _thread(thread: ExcisedThread | SuggestedThread, out: Out) -> None:
    out.line(f"  {thread.opening or '(no prompt)'}")
    size = f"{counted(thread.records, 'record')} · {thread.bytes:,} bytes · ~{counted(thread.tokens, 'token')}"
    out.line(out.dim(f"    {thread.id} · {size}"))


def _notes(result: ExciseResult) -> list[str]:
    told = (
        (result.relinked, "records get another parent"),
        (result.echoes, "of the lines only repeat what goes (queued and last prompts, summaries)"),
        (result.drawn, "results in other threads go with their calls"),
        (result.bound, "records stay because a call's other end does"),
        (result.walls, "records of a compaction stay: they stand for everything before them"),
        (result.subagents, "subagents worked for these threads; their files stay"),
        (result.tail, "bytes that the agent wrote meanwhile were carried over"),
    )
    return [f"{number} {words}" for number, words in told if number]


def _suggestions(result: ExciseResult, out: Out) -> None:
    for thread in result.suggestions:
        _thread(thread, out)
        out.line(out.dim(f"    {', '.join(thread.reasons)}"))
    if not result.suggestions:
        out.line("no thread of this session suggests itself; name one to see what taking it out would do")
