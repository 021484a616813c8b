"""The versions of one file: its events replayed, and where it was moved from another name, that file's before it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.record.history.naming import matching
from fabula.record.history.replay import Version, replay

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fabula.record.history.gather import Gatherer
    from fabula.record.history.replay import Event

_MOST_MOVES = 8


def versions_of(gatherer: Gatherer, paths: Mapping[int, str], moves: int = 0) -> list[Version]:
    """Return the versions of a file known under ``paths`` (the map's row: path), numbered from 1."""
    events = gatherer.events(paths)
    for event in events:
        if event.action is not None and event.action.moved_from and moves < _MOST_MOVES:
            event.base = _before_the_move(gatherer, event, event.action.moved_from, moves)
    return replay(events)


def _before_the_move(gatherer: Gatherer, event: Event, path: str, moves: int) -> str | None:
    """Return the contents that a file had under its old name when it was moved."""
    rows = {one.row: one.path for one in matching(gatherer.connection, path) if one.path == path}
    contents: str | None = None
    for version in versions_of(gatherer, rows, moves + 1) if rows else ():
        if version.turn.record == event.turn.record and version.deleted:
            return contents
        contents = version.content
    return None
