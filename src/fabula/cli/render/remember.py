"""What is remembered now, as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fabula.app.remember import RememberResult
    from fabula.cli.output import Out


def render(result: RememberResult, out: Out) -> None:
    """Write where the memory is, or that one said so before."""
    if result.known:
        out.line(f"known already: {out.bold(result.path)}")
    else:
        out.line(f"remembered: {out.bold(result.path)}")
    for notice in result.notices:
        out.line(out.dim(notice))
