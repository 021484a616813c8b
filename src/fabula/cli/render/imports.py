"""What an import took over, or would, as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fabula.app.imports import FableResult
    from fabula.cli.output import Out
    from fabula.record.importing.counts import Count


def render(result: FableResult, out: Out) -> None:
    """Write a line for each table, one for the generations, and what to do next."""
    out.line(out.bold(result.database))
    for count in result.tables:
        if count.rows:
            out.line(f"  {count.name:<20} {count.rows:>9,} rows  {', '.join(_parts(count, applied=result.applied))}")
    held = result.generations
    out.line(
        f"generations: {held.files:,} files, {held.bytes / 1e6:,.1f} MB in {', '.join(held.folders) or 'no folder'}"
    )
    done = "sealed now" if result.applied else "to be sealed"
    out.line(f"  {held.new:,} {done}, {held.there:,} sealed before, {held.others:,} other files left out")
    for problem in result.problems:
        out.line(out.dim(f"could not read {problem.path}: {problem.reason}"))
    if not result.applied:
        out.line(out.dim(f"do it: {result.next}"))


def _parts(count: Count, *, applied: bool) -> list[str]:
    words = "" if applied else "to be "
    parts = [
        f"{number:,} {what}"
        for number, what in (
            (count.taken, f"{words}taken"),
            (count.kept, f"{words}kept as they are"),
            (count.there, "here already"),
        )
        if number
    ]
    return parts + [f"{number:,} left out: {reason}" for reason, number in sorted(count.skipped.items())]
