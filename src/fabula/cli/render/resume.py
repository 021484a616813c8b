"""Opening a session again: print the command, or become it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fabula.app.record.resume import ResumeResult
    from fabula.cli.output import Out


def render(result: ResumeResult, out: Out) -> None:
    """Print the command line; unless only that was asked for, run it in place of this process."""
    if result.print_only:
        out.line(result.shell)
        for note in result.notes:
            out.line(f"# {note}")
        return
    for note in result.notes:
        out.line(out.dim(note))
    out.line(out.dim(result.shell))
    out.flush()
    if result.cwd:
        os.chdir(result.cwd)
    variables = [f"{name}={value}" for name, value in result.environment.items()]
    words = ["env", *variables, *result.words] if variables else list(result.words)
    os.execvp(words[0], words)  # noqa: S606 - no shell is wanted: the words are exactly these
