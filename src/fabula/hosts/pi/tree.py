"""A session's entries as the tree that they are: parents, turns, and which branch the session stands on.

Kept between scans as lists of numbers, about 40 bytes an entry. An entry points at its parent by an id of eight hex
digits, which is too short to be its own in a record of many sessions: with its time it is, and copies of it in forks
(which keep both) are known as the same.
"""

from __future__ import annotations

from typing import Any

from fabula.kernel.ids import derived_id

NONE = -1
_LISTS = ("ids", "times", "parents", "turns")


class Tree:
    """The entries met so far, in file order."""

    def __init__(self, saved: dict[str, Any]) -> None:
        self._state = saved
        if not _is_whole(saved):
            saved.update({name: [] for name in _LISTS})
        self._index: dict[str, int] = {name: at for at, name in enumerate(saved["ids"])}
        self._path: set[int] = set()
        self._path_of = NONE  # the entry whose path that is

    def add(self, identity: str, parent: str, time: int, *, opens: bool) -> int:
        """Take in an entry and return its number; one that was met before keeps what it is.

        ``opens``: a person's message, with which a turn begins.
        """
        known = self._index.get(identity)
        if known is not None:
            return known
        state, number = self._state, len(self._state["ids"])
        above = self._index.get(parent, NONE)
        state["ids"].append(identity)
        state["times"].append(time)
        state["parents"].append(above)
        state["turns"].append(number if opens else state["turns"][above] if above >= 0 else NONE)
        self._index[identity] = number
        return number

    def uid(self, number: int) -> str:
        """Return the uid of an entry, ``""`` for none."""
        return "" if number < 0 else uid_of(self._state["ids"][number], self._state["times"][number])

    def parent(self, number: int) -> int:
        """Return the entry above."""
        return int(self._state["parents"][number])

    def turn(self, number: int) -> int:
        """Return the person's message with which an entry's turn began."""
        return int(self._state["turns"][number])

    def is_live(self, number: int) -> bool:
        """Say whether an entry lies on the way from the newest entry, on which the session stands, to its root."""
        last = len(self._state["ids"]) - 1
        if number == last:
            return True
        if self._path_of != last:
            self._path, self._path_of = self._way_up(last), last
        return number in self._path

    def _way_up(self, number: int) -> set[int]:
        """A parent always comes before its child, so this ends."""
        way: set[int] = set()
        while number >= 0:
            way.add(number)
            number = self.parent(number)
        return way


def uid_of(identity: str, time: int) -> str:
    """Return the uid of an entry by its id and its time (ms)."""
    return derived_id("pi", identity, time)


def _is_whole(saved: dict[str, Any]) -> bool:
    """Say whether saved lists belong together: a state of another version starts anew."""
    lists = [saved.get(name) for name in _LISTS]
    if not all(isinstance(each, list) for each in lists) or len({len(each or ()) for each in lists}) != 1:
        return False
    ids, *numbers = lists
    return all(isinstance(one, str) for one in ids or ()) and all(
        isinstance(one, int) for each in numbers for one in each or ()
    )
