"""What texts about memories share: a memory as a line, what limits an answer, when a change was committed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.kernel.clock import format_time

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from fabula.cli.output import Out

SHORT = 12  # digits of a commit's id that are shown


def day(millis: int | None) -> str:
    """Return a day (UTC), as wide as every other."""
    return format_time(millis)[:10] or " " * 10


def notices(lines: Iterable[str], out: Out) -> None:
    """Write what a reader of the answer should know."""
    for line in lines:
        out.line(out.dim(f"note: {line}"))


def commit_note(commit: str | None, out: Out) -> str:
    """Say which commit made a change."""
    return out.dim(f"  commit {commit[:SHORT]}") if commit else ""


def cut(text: str, width: int) -> str:
    """Return a text on one line of at most so many characters."""
    line = " ".join(text.split())
    return line if len(line) <= width else line[: max(1, width - 1)].rstrip() + "…"


def table(rows: Sequence[Sequence[str]], out: Out, *, heads: Sequence[str] = ()) -> None:
    """Write rows in columns as wide as their longest cell; the last column may be cut where the line ends."""
    if not rows:
        return
    cells = [list(heads), *map(list, rows)] if heads else [list(row) for row in rows]
    widths = [max(len(row[at]) for row in cells) for at in range(len(cells[0]) - 1)]
    rest = max(20, out.width - sum(widths) - 2 * len(widths))
    for number, row in enumerate(cells):
        parts = [cell.ljust(width) for cell, width in zip(row, widths, strict=False)]
        last = row[-1] if not out.styled else cut(row[-1], rest)
        line = "  ".join([*parts, last]).rstrip()
        out.line(out.dim(line) if heads and number == 0 else line)
