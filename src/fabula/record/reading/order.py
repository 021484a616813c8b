"""The order of a thread's records when they lie in several files."""

from __future__ import annotations

from heapq import merge
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from fabula.record.loader import Row


def reading_order(rows: Sequence[Row]) -> list[Row]:
    """Put rows in file order; rows of different files by the latest time that their file had reached.

    Times inside one file run backwards now and then, so they never change the order there.
    """
    files: dict[int, list[Row]] = {}
    for row in rows:
        files.setdefault(row.file_id, []).append(row)
    if len(files) == 1:
        return sorted(rows, key=lambda row: row.offset)
    return [row for _, _, _, row in merge(*(_timed(part) for part in files.values()))]


def _timed(rows: Iterable[Row]) -> list[tuple[int, int, int, Row]]:
    """Give each row of one file the latest time so far; ties between files go to the one that was read first."""
    ordered = sorted(rows, key=lambda row: row.offset)
    first = min(row.id for row in ordered)
    latest = -1
    timed = []
    for position, row in enumerate(ordered):
        latest = max(latest, row.time if row.time is not None else -1)
        timed.append((latest, first, position, row))
    return timed
