"""What a session did with memories, as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.cli.render.record_lines import moment

if TYPE_CHECKING:
    from fabula.app.joints.session_memories import LinkedMemory, LinksResult
    from fabula.cli.output import Out


def render(result: LinksResult, out: Out) -> None:
    """Write one line for each memory and action, by time."""
    if not result.memories:
        out.line(f"no memory knows of session {result.session}")
    for memory in result.memories:
        linked_memory(memory, out)
    for notice in result.notices:
        out.line(out.dim(notice))


def linked_memory(memory: LinkedMemory, out: Out) -> None:
    """Write one line: when, what was done, with which memory."""
    times = f" {memory.times} times" if memory.times > 1 else ""
    state = " (archived)" if memory.archived else "" if memory.title else " (gone)"
    title = f"{memory.title}  " if memory.title else ""
    out.line(f"  {moment(memory.first)}  {memory.action}{times}  {title}{out.dim(memory.path + state)}")
