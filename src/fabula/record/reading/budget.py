"""Sharing a budget of characters between texts that may be cut."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

LEAST = 80  # characters of a text that are always shown


def fair_level(sizes: Iterable[int], room: int) -> int:
    """Return the largest level at which all texts, each cut at the level, fit into ``room`` together.

    Short texts leave their unused share to the long ones. When everything fits, the level is the longest text.
    """
    ordered = sorted(sizes)
    level = 0
    for position, size in enumerate(ordered):
        share = max(room, 0) // (len(ordered) - position)
        if size > share:
            return share
        room -= size
        level = size
    return level


def cut(text: str, level: int, marker: str) -> str:
    """Return a text of at most ``level`` characters that ends in ``marker`` where it was cut.

    At least :data:`LEAST` characters stay, and a text that the marker would not shorten stays whole.
    """
    keep = max(LEAST, level - len(marker))
    if len(text) <= level or len(text) <= keep + len(marker):
        return text
    return text[:keep] + marker
