"""Help as text."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fabula.cli.output import Out
    from fabula.cli.verbs.help import HelpLine, HelpResult

_NAME_COLUMN = 28


def render(result: HelpResult, out: Out) -> None:
    """Write usage, what it does, and what it takes."""
    out.line(f"{out.bold('usage')}: {result.usage}")
    out.line()
    _paragraph(result.summary[:1].upper() + result.summary[1:], out)
    if result.details:
        _paragraph(result.details, out)
    for title, lines in (
        ("arguments", result.arguments),
        ("commands", result.commands),
        ("options", result.options),
    ):
        _section(title, lines, out)
    if result.examples:
        out.line(out.bold("examples"))
        for example in result.examples:
            out.line(f"  {example}")


def _paragraph(text: str, out: Out) -> None:
    for line in textwrap.wrap(text, min(out.width, 100)):
        out.line(line)
    out.line()


def _section(title: str, lines: list[HelpLine], out: Out) -> None:
    if not lines:
        return
    out.line(out.bold(title))
    for line in lines:
        name = f"  {line.name}"
        if len(name) >= _NAME_COLUMN:
            out.line(name)
            name = ""
        width = max(30, min(out.width, 110) - _NAME_COLUMN)
        for part in textwrap.wrap(line.meaning, width) or [""]:
            out.line(f"{name:<{_NAME_COLUMN}}{part}")
            name = ""
    out.line()
