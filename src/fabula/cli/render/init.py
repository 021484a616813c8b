"""What there is now, as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.cli.render.record_lines import counted

if TYPE_CHECKING:
    from fabula.app.init import InitResult
    from fabula.cli.output import Out


def render(result: InitResult, out: Out) -> None:
    """Write a line for each part, and what to do next."""
    for part in result.parts:
        files = f" ({counted(len(part.wrote), 'file')})" if part.wrote else ""
        out.line(f"{out.bold(part.what):<10} {part.state:<9} {part.path}{files}")
        if part.note:
            out.line(out.dim(f"           {part.note}"))
    for command in result.next if result.changed else ():
        out.line(out.dim(f"next: {command}"))
