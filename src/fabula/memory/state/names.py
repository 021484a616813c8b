"""Which memory a path meant at a time, and what that memory is called now. Pure.

A path is where a memory is, not what it is: it moves into the archive, back, by hand; and a path that became free may
be taken by another memory. So what was logged of a path follows its moves, up to where the path began to name another.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING

from fabula.memory.state.entries import BEGINNING, MOVED

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fabula.memory.state.entries import Entry

Order = tuple[int, str]
LAST: Order = (1 << 62, "")


class Names:
    """What moves and new memories say about paths.

    A move away from a path that nobody has come to since the last one is that move, seen again by another machine.
    """

    def __init__(self, entries: Iterable[Entry]) -> None:
        self._moves: dict[str, list[tuple[Order, str]]] = {}
        self._starts: dict[str, list[Order]] = {}
        left: set[str] = set()
        for entry in sorted(entries, key=lambda entry: entry.order):
            if entry.kind == MOVED and entry.path != entry.to and entry.path not in left:
                left.add(entry.path)
                left.discard(entry.to)
                self._moves.setdefault(entry.path, []).append((entry.order, entry.to))
                self._starts.setdefault(entry.to, []).append(entry.order)
            elif entry.kind in BEGINNING:
                left.discard(entry.path)
                self._starts.setdefault(entry.path, []).append(entry.order)

    def now(self, path: str, since: Order = LAST) -> str:
        """Return what the memory that ``path`` meant at a moment is called now.

        A reading that came late, under a name that was gone, counts for the memory that had it. Each step goes on to a
        later move, so there is an end.
        """
        least: Order | None = None
        while (step := self._next(path, since, least)) is not None:
            since, path = step
            least = since
        return path

    def _next(self, path: str, since: Order, least: Order | None) -> tuple[Order, str] | None:
        """Return the move by which the memory that had a path at a moment left it; never one up to ``least``."""
        moves = self._moves.get(path)
        if moves is None:
            return None
        starts = self._starts.get(path, [])
        number = bisect_right(starts, since)
        begin = starts[number - 1] if number else (-1, "")
        end = starts[number] if number < len(starts) else LAST
        return next(
            ((order, to) for order, to in moves if begin <= order < end and (least is None or order > least)), None
        )


def family(path: str, moves: Iterable[Entry]) -> set[str]:
    """Return every path that is joined to one by moves, itself included."""
    joined: dict[str, set[str]] = {}
    for move in moves:
        joined.setdefault(move.path, set()).add(move.to)
        joined.setdefault(move.to, set()).add(move.path)
    found, ahead = {path}, [path]
    while ahead:
        new = joined.get(ahead.pop(), set()) - found
        found |= new
        ahead += new
    return found
