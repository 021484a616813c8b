"""Which readings a log need not keep: those that add nothing to what a replica said before. Pure.

A reading within the cool-down of the last that counted, by a session that is known to have read the memory, changes
neither counts nor links. It is left out of the fold, so that it may be left out of logs: a log stays small and what it
comes to stays the same, on this machine and on all that read it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.memory.standing.constants import COOLDOWN_MS
from fabula.memory.state.entries import READ, SIGNAL_OF
from fabula.memory.state.names import Names

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fabula.memory.state.entries import Entry


class Thinner:
    """Goes through entries by time and says which of them count."""

    def __init__(self) -> None:
        self._counted: dict[tuple[str, str], int] = {}
        self._sessions: set[tuple[str, str, str]] = set()

    def keeps(self, entry: Entry, path: str) -> bool:
        """Say whether an entry about a memory (as it is called now) counts."""
        if entry.kind not in SIGNAL_OF:
            return True
        key = entry.replica, path
        last = self._counted.get(key)
        counts = last is None or entry.at - last >= COOLDOWN_MS
        if counts:
            self._counted[key] = entry.at
        if entry.kind != READ:
            return True
        reader = (*key, entry.session)
        is_new = bool(entry.session) and reader not in self._sessions
        if is_new:
            self._sessions.add(reader)
        return counts or is_new


def by_name(entries: Iterable[Entry]) -> list[tuple[Entry, str]]:
    """Return what counts of some entries, each id once, by time, with what its memory is called now.

    Of two entries with one id the same one always counts.
    """
    distinct = {entry.id: entry for entry in sorted(entries, key=whole_order, reverse=True)}
    ordered = sorted(distinct.values(), key=lambda entry: entry.order)
    names, thinner = Names(ordered), Thinner()
    named = ((entry, names.now(entry.path, entry.order)) for entry in ordered)
    return [(entry, path) for entry, path in named if thinner.keeps(entry, path)]


def thinned(entries: Iterable[Entry]) -> list[Entry]:
    """Return the entries that a log keeps, by time: what they come to is the same."""
    return [entry for entry, _ in by_name(entries)]


def whole_order(entry: Entry) -> tuple[int, str, str, str, str, str]:
    """Return what decides between two entries of one id: the smaller one counts."""
    return entry.at, entry.id, entry.kind, entry.path, entry.to, entry.session
