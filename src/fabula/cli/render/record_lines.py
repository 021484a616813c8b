"""Lines that several listings share: sessions, threads, times, and what a reader should know of an answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.kernel.clock import format_time

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fabula.app.access import Freshness
    from fabula.app.record.lines import SessionLine, ThreadLine
    from fabula.app.record.reading import Unreadable
    from fabula.cli.output import Out


def moment(millis: int | None) -> str:
    """Return a time to the minute (UTC), as wide as every other."""
    return format_time(millis)[:16].replace("T", " ") or " " * 16


def counted(number: int, noun: str) -> str:
    """Return a number and what it counts: ``1 thread``, ``2 threads``, ``3 memories``."""
    if number == 1:
        return f"{number} {noun}"
    return f"{number:,} {noun[:-1]}ies" if noun.endswith("ry") else f"{number:,} {noun}s"


def session_line(line: SessionLine, out: Out) -> None:
    """Write one session: when, what, and how to read on."""
    marks = [mark for mark, holds in _session_marks(line) if holds]
    title = line.title or "(no title)"
    out.line(f"{moment(line.last_time)}  {'★ ' if line.pinned else ''}{out.bold(title)}")
    facts = f"{line.host} · {line.project} · {counted(line.threads, 'thread')} · {counted(line.records, 'record')}"
    out.line(out.dim(f"{'':16}  {' · '.join([line.id, facts, *marks])}"))


def _session_marks(line: SessionLine) -> Sequence[tuple[str, bool]]:
    return (
        (line.kind, line.kind != "main"),
        (counted(line.subagents, "subagent"), line.subagents > 0),
        (f"continues {line.continues}", line.continues != ""),
        ("source gone, served from the vault", line.source_gone),
    )


def thread_line(line: ThreadLine, out: Out, *, project: bool = False) -> None:
    """Write one thread: when, how it began, and its size."""
    title = line.title or line.opening or "(no prompt)"
    out.line(f"{moment(line.first_time)}  {'★ ' if line.pinned else ''}{title}")
    facts = [line.id, counted(line.records, "record"), f"~{counted(line.tokens, 'token')}"]
    if line.sidechain_records:
        facts.append(f"{line.sidechain_records} by subagents")
    if project:
        facts.insert(1, line.project)
    out.line(out.dim(f"{'':16}  {' · '.join(facts)}"))


def notes(fresh: Freshness, out: Out, unreadable: Sequence[Unreadable] = ()) -> None:
    """Write what limits an answer: what was not taken in yet, and what could not be read."""
    if not fresh.fresh:
        out.line(out.dim(f"not everything is taken in yet ({fresh.note or 'a scan is needed'}): fabula record scan"))
    for one in unreadable:
        out.line(out.dim(f"not readable: {one.id}: {one.reason}"))
