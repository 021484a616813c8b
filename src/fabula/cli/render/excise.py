"""Threads taken out of a session, or which could be."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.cli.render.record_lines import counted

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
    out.line(out.dim(f"{'take it back' if result.applied else 'do it'}: {result.next}"))


def _thread(thread: ExcisedThread | SuggestedThread, out: Out) -> None:
    out.line(f"  {thread.opening or '(no prompt)'}")
    size = f"{counted(thread.records, 'record')} · {thread.bytes:,} bytes · ~{counted(thread.tokens, 'token')}"
    out.line(out.dim(f"    {thread.id} · {size}"))


def _notes(result: ExciseResult) -> list[str]:
    told = (
        (result.relinked, "record", "linked anew"),
        (result.echoes, "of these lines", "only repeating what goes (queued and last prompts, summaries)"),
        (result.drawn, "result", "in other threads, going with the calls"),
        (result.bound, "record", "kept because a call's other end is"),
        (result.walls, "record", "of a compaction kept: what stands for everything before it"),
        (result.subagents, "subagent", "of these threads, whose files stay"),
        (result.tail, "byte", "that the agent wrote meanwhile, carried over"),
    )
    return [f"{_noted(number, noun)} {words}" for number, noun, words in told if number]


def _noted(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if noun.startswith("of ") else counted(number, noun)


def _suggestions(result: ExciseResult, out: Out) -> None:
    for thread in result.suggestions:
        _thread(thread, out)
        out.line(out.dim(f"    {', '.join(thread.reasons)}"))
    if not result.suggestions:
        out.line("no thread of this session suggests itself; name one to see what taking it out would do")
