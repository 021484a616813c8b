"""What was changed by hand and committed, as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fabula.app.memory.commit import CommitResult
    from fabula.cli.output import Out

_SAID = {"A": "new", "M": "changed", "D": "gone", "R": "moved"}


def render(result: CommitResult, out: Out) -> None:
    """Write one line for each file, its problems below it."""
    if not result.changes:
        out.line("no memory was changed by hand")
    for one in result.changes:
        before = f" {out.dim('from ' + one.before)}" if one.before else ""
        out.line(f"  {_SAID[one.kind]}  {one.path}{before}")
        for problem in one.problems:
            out.line(f"    {problem}")
    if result.commit:
        out.line(f"{out.bold('committed')} {result.commit[:12]}")
    elif result.changes:
        out.line(out.dim("nothing was committed"))
    for notice in result.notices:
        out.line(out.dim(notice))
