"""What became of the index, as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.cli.render.memory_lines import SHORT, notices
from fabula.cli.render.record_lines import counted

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fabula.app.memory.index import IndexResult
    from fabula.cli.output import Out
    from fabula.memory.index.values import Problem

SHOWN = 20


def render(result: IndexResult, out: Out) -> None:
    """Write what was taken in and what could not be."""
    head = result.head[:SHORT] or "(no commit yet)"
    if result.rebuilt:
        out.line(f"the index was made anew: {out.bold(counted(result.files, 'memory'))} at {head}")
    elif result.unchanged:
        out.line(f"nothing had changed: {counted(result.files, 'memory')} at {head}")
    else:
        parts = {"new": result.added, "changed": result.modified, "gone": result.removed, "moved": result.moved}
        said = ", ".join(f"{len(some)} {name}" for name, some in parts.items() if some)
        out.line(f"{said}: {counted(result.files, 'memory')} at {head}")
    if result.embedded:
        out.line(f"{result.embedded:,} vectors made")
    if result.degraded:
        out.line(out.dim(f"no vectors: {result.degraded}"))
    problems(result.problems, out)
    notices(result.notices, out)


def problems(found: Iterable[Problem], out: Out) -> None:
    """Write the files that are not served, and what puts each right."""
    every = list(found)
    for one in every[:SHOWN]:
        place = f":{one.line}" if one.line else ""
        out.line(f"{out.mark('not served')} {one.path}{place}: {one.message}")
        out.line(out.dim(f"  {one.fix}"))
    if len(every) > SHOWN:
        out.line(out.dim(f"and {len(every) - SHOWN} more files: --json lists all"))
