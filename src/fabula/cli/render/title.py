"""A title that was given, as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fabula.app.record.title import TitleResult
    from fabula.cli.output import Out


def render(result: TitleResult, out: Out) -> None:
    """Say what is called how now."""
    if result.title:
        out.line(f"{result.kind} {result.id} is called {out.bold(result.title)}")
    else:
        out.line(f"{result.kind} {result.id} has no title of yours any more")
