"""One session as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.cli.render.memory_links import linked_memory
from fabula.cli.render.record_lines import counted, moment, notes, session_line, thread_line

if TYPE_CHECKING:
    from fabula.app.record.lines import SessionLine
    from fabula.app.record.session import SessionResult
    from fabula.cli.output import Out

FILES_SHOWN = 20


def render(result: SessionResult, out: Out) -> None:
    """Write what a session is, what happened in it, and where it is kept."""
    session_line(result.session, out)
    for name, value in (("folder", result.session.cwd), ("branch", result.session.branch)):
        if value:
            out.line(f"  {name}  {value}")
    out.line(f"  time    {moment(result.session.first_time)} to {moment(result.session.last_time)} UTC")
    for origin in result.composed_from:
        out.line(f"  composed from  thread {origin.thread} of session {origin.session}: {origin.title}")
    _heading(counted(len(result.threads), "thread"), out)
    for thread in result.threads:
        thread_line(thread, out)
    _sessions("subagents", result.subagents, out)
    _sessions("continued by", result.continued_by, out)
    _files(result, out)
    if result.memories:
        _heading("memories", out)
    for memory in result.memories:
        linked_memory(memory, out)
    for use in result.usage:
        spent = f"{use.input} in, {use.output} out, {use.cache_read} cache read, {use.cache_write} cache write"
        out.line(f"  usage   {use.model}: {use.responses} responses, {spent}")
    _sources(result, out)
    notes(result.fresh, out)


def _sources(result: SessionResult, out: Out) -> None:
    """Write the transcripts' files one by one, those beside them as counts."""
    aside: dict[str, int] = {}
    for source in result.sources:
        if source.aside:
            aside[source.kind] = aside.get(source.kind, 0) + 1
            continue
        state = "gone" if source.gone else "there"
        sealed = "sealed" if source.sealed else "not sealed"
        out.line(out.dim(f"  source  {source.path} ({source.kind}, {state}, {sealed})"))
    if aside:
        counts = ", ".join(f"{number} {kind}" for kind, number in aside.items())
        out.line(out.dim(f"  beside  {counts} (--json lists all)"))


def _heading(text: str, out: Out) -> None:
    out.line()
    out.line(out.bold(text))


def _sessions(name: str, lines: tuple[SessionLine, ...], out: Out) -> None:
    if lines:
        _heading(name, out)
        for line in lines:
            session_line(line, out)


def _files(result: SessionResult, out: Out) -> None:
    if result.files:
        _heading(f"{len(result.files)} files", out)
    for file in result.files[:FILES_SHOWN]:
        counts = ", ".join(f"{number} {operation}" for operation, number in file.operations.items())
        out.line(f"  {file.path}  {out.dim(counts)}")
    if len(result.files) > FILES_SHOWN:
        out.line(out.dim(f"  and {len(result.files) - FILES_SHOWN} more (--json lists all)"))
