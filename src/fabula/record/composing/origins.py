"""What a composed session was made from, as the seams in it tell."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.kernel.errors import FabulaError
from fabula.kernel.records import KINDS
from fabula.kernel.values import frozen

if TYPE_CHECKING:
    from fabula.record.loader import Loader


@frozen
class Origin:
    """One thread that a composed session was made from; ``session`` is the one that it stands in."""

    thread: str
    session: str
    title: str


def origins(loader: Loader, session: int) -> list[Origin]:
    """Return the threads that a session was made from, in its order; none for a session that was not composed."""
    found: list[Origin] = []
    for row in loader.rows("session_id=? and kind=?", (session, KINDS.index("boundary"))):
        try:
            (one,) = loader.load([row])
        except FabulaError:
            continue  # another record's damage is no reason to say nothing of a session
        named = [block.input for block in one.record.blocks if block.input]
        found += [
            Origin(seam["thread"], seam["session"], seam.get("title", ""))
            for seam in named
            if {"thread", "session"} <= seam.keys()
        ]
    return found
