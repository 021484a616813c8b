"""Which memory took the place of which: chains of ``supersedes``, written by people and agents. Pure.

A superseded memory stands behind its successor wherever both are shown. Only authored edges say so.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from fabula.memory.links.edges import AuthoredEdge, defect_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

RELATION = "supersedes"


class Succession:
    """Who succeeded whom, of all ``supersedes`` edges of a corpus. Anything else that it is given is left out."""

    def __init__(self, edges: Iterable[AuthoredEdge]) -> None:
        """Read the edges. Raises ``TypeError`` for an edge that was not written: a guess never retires a memory."""
        self._above: dict[str, list[AuthoredEdge]] = {}
        for edge in edges:
            if not isinstance(edge, AuthoredEdge):
                raise TypeError(f"{edge!r} was not written by anyone")
            if edge.relation == RELATION and defect_of(edge) is None:
                self._above.setdefault(edge.target, []).append(edge)
        for found in self._above.values():
            found.sort(key=lambda edge: (-edge.at, edge.source))

    def successors(self, path: str) -> list[str]:
        """Return what directly supersedes a memory, the one written last first, ties by path."""
        return list(dict.fromkeys(edge.source for edge in self._above.get(path, ())))

    def successor(self, path: str) -> str | None:
        """Return what superseded a memory: of several the one written last. ``None``: nothing did."""
        return next(iter(self.successors(path)), None)

    def chain(self, path: str) -> list[str]:
        """Return a memory and its successors one after another, up to the one that holds now.

        Where memories supersede each other in a circle it ends before the first that would repeat.
        """
        found = [path]
        seen = {path}
        while (following := self.successor(found[-1])) is not None and following not in seen:
            found.append(following)
            seen.add(following)
        return found

    def current(self, path: str) -> str | None:
        """Return the memory that holds in a memory's place, itself when nothing superseded it.

        ``None`` when memories supersede each other in a circle: then none of them is known to hold.
        """
        last = self.chain(path)[-1]
        return last if self.successor(last) is None else None

    def outranking(self, path: str) -> set[str]:
        """Return everything that supersedes a memory, directly or over others, but for those in a circle with it."""
        return self._reach(path) - self._circle_of(path)

    def cycles(self) -> list[list[str]]:
        """Return the groups of memories that supersede each other in a circle, sorted: a defect that a person mends."""
        return sorted({tuple(sorted(circle)): sorted(circle) for circle in self._circles.values()}.values())

    def in_order(self, ranking: Sequence[str]) -> list[str]:
        """Return a ranking in which no superseded memory stands before one that supersedes it.

        The order is otherwise kept: a successor is drawn up to right before what it superseded. In a circle nobody is
        put before anyone. Linear in the ranking and the edges.
        """
        place = {path: at for at, path in reversed(list(enumerate(ranking)))}
        placed: dict[str, None] = {}
        visited: set[str] = set()
        for path in ranking:
            for better in self._before(path, visited, place):
                placed.setdefault(better)
            placed.setdefault(path)
        return list(placed)

    def violations(self, ranking: Sequence[str]) -> list[tuple[str, str]]:
        """Return the pairs (superseded, successor) of which the first stands before the second."""
        place = {path: at for at, path in reversed(list(enumerate(ranking)))}
        return [
            (path, better)
            for path in place
            for better in sorted(self.outranking(path))
            if better in place and place[path] < place[better]
        ]

    def _before(self, path: str, visited: set[str], place: Mapping[str, int]) -> Iterator[str]:
        """Yield those of a ranking that outrank a memory, the highest first; what was visited is placed already."""
        stack = [(one, False) for one in reversed(self._over(path))]
        while stack:
            one, is_done = stack.pop()
            circle = self._circle_of(one)
            if is_done:
                yield from sorted((each for each in circle if each in place), key=place.__getitem__)
            elif one not in visited:
                visited |= circle
                stack.append((one, True))
                stack += [(other, False) for other in reversed(self._over(one))]

    def _over(self, path: str) -> list[str]:
        """Return who directly supersedes a memory, or one in a circle with it, from outside of that circle."""
        circle = self._circle_of(path)
        return [one for member in sorted(circle) for one in self.successors(member) if one not in circle]

    def _circle_of(self, path: str) -> frozenset[str]:
        return self._circles.get(path, frozenset((path,)))

    @cached_property
    def _circles(self) -> dict[str, frozenset[str]]:
        return circles({path: self.successors(path) for path in self._above})

    def _reach(self, path: str) -> set[str]:
        seen: set[str] = set()
        waiting = [path]
        while waiting:
            for one in self.successors(waiting.pop()):
                if one not in seen:
                    seen.add(one)
                    waiting.append(one)
        return seen


def circles(following: Mapping[str, Sequence[str]]) -> dict[str, frozenset[str]]:
    """Return the circle of each node that stands in one: whom it leads to and who lead back. Linear (Kosaraju)."""
    leading: dict[str, list[str]] = {}
    for node, targets in following.items():
        for target in targets:
            leading.setdefault(target, []).append(node)
    found: dict[str, frozenset[str]] = {}
    seen: set[str] = set()
    for node in reversed(_by_end(following)):
        if node in seen:
            continue
        group, waiting = {node}, [node]
        while waiting:
            fresh = [one for one in leading.get(waiting.pop(), ()) if one not in seen and one not in group]
            group.update(fresh)
            waiting += fresh
        seen |= group
        if len(group) > 1:
            found |= dict.fromkeys(group, frozenset(group))
    return found


def _by_end(following: Mapping[str, Sequence[str]]) -> list[str]:
    """Return all nodes in the order in which a walk in depth leaves them."""
    order: list[str] = []
    seen: set[str] = set()
    for start in sorted(following):
        stack = [(start, False)]
        while stack:
            node, is_done = stack.pop()
            if is_done:
                order.append(node)
            elif node not in seen:
                seen.add(node)
                stack.append((node, True))
                stack += [(other, False) for other in following.get(node, ()) if other not in seen]
    return order
