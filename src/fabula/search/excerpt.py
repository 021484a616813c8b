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
    ends: list[int] = []  # where each run of blanks that shrinks ends, and how much shorter the text is from there on
    lost: list[int] = []
    shorter = -1 if before else 0
    for blank in _BLANKS.finditer(text):
        shorter += len(blank.group()) - (0 if blank.start() == 0 else 1)
        ends.append(blank.end())
        lost.append(shorter)

    def moved(position: int) -> int:
        at = bisect_right(ends, position)
        return position - (lost[at - 1] if at else shorter_at_start)

    shorter_at_start = -1 if before else 0
    line = ("…" if before else "") + _BLANKS.sub(" ", text).strip() + ("…" if after else "")
    return Excerpt(line, tuple((moved(start), moved(end - 1) + 1) for start, end in marks if end > start))
