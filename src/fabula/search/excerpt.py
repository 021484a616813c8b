"""Choosing the part of a text to show for a query, and the places to mark in it."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import TYPE_CHECKING

from fabula.kernel.values import frozen

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fabula.search.matching import Match

WIDTH = 280  # characters
_BLANKS = re.compile(r"\s+")
LEAD = 60  # characters shown before the first match


@frozen
class Excerpt:
    """A part of a text on one line; ``marks`` are (start, end) of matches in it."""

    text: str
    marks: tuple[tuple[int, int], ...] = ()


def excerpt(text: str, found: Sequence[Match], weights: Sequence[float], width: int = WIDTH) -> Excerpt:
    """Return the ``width`` characters that hold the most weight of different terms, the earliest such."""
    first = _best_start(found, weights, width)
    start = max(0, first - LEAD) if first + width - LEAD < len(text) else max(0, len(text) - width)
    start = _word_start(text, start, first)
    end = min(len(text), start + width)
    if end < len(text):
        cut = text.rfind(" ", start + width // 2, end)
        end = cut if cut > 0 else end
    marks = [(match.start - start, match.end - start) for match in found if start <= match.start and match.end <= end]
    return _on_one_line(text[start:end], marks, before=start > 0, after=end < len(text))


def _best_start(found: Sequence[Match], weights: Sequence[float], width: int) -> int:
    best, best_value = 0, 0.0
    for index, match in enumerate(found):
        seen: set[int] = set()
        value = 0.0
        for other in found[index : index + 60]:
            if other.end - match.start > width - LEAD:
                break
            value += weights[other.term] * (1.0 if other.whole else 0.5) * (0.1 if other.term in seen else 1.0)
            seen.add(other.term)
        if value > best_value:
            best, best_value = match.start, value
    return best


def _word_start(text: str, start: int, first: int) -> int:
    """Move a beginning to the next word, but not past the first match."""
    if start == 0:
        return 0
    for position in range(start, min(first, start + LEAD)):
        if text[position - 1].isspace():
            return position
    return start


def _on_one_line(text: str, marks: Sequence[tuple[int, int]], *, before: bool, after: bool) -> Excerpt:
    """Join lines and runs of blanks, moving the marks along."""
    line = " ".join(text.split())
    lead = 1 if before else 0
    shorter = len(text) - len(text.lstrip()) - lead
    if len(line) == len(text.strip()):  # one blank for one: all marks move alike
        moved = tuple((start - shorter, end - shorter) for start, end in marks if end > start)
    else:
        moved = _moved(text, marks, lead)
    return Excerpt("…" * lead + line + ("…" if after else ""), moved)


def _moved(text: str, marks: Sequence[tuple[int, int]], lead: int) -> tuple[tuple[int, int], ...]:
    """Return the marks as they are when runs of blanks have become one blank, and a beginning of blanks is gone."""
    ends: list[int] = [0]  # where each run of blanks that shrinks ends, and how much shorter the text is from there on
    lost: list[int] = [-lead]
    for blank in _BLANKS.finditer(text):
        ends.append(blank.end())
        lost.append(lost[-1] + len(blank.group()) - (0 if blank.start() == 0 else 1))

    def moved(position: int) -> int:
        return position - lost[bisect_right(ends, position) - 1]

    return tuple((moved(start), moved(end - 1) + 1) for start, end in marks if end > start)
