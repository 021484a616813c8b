"""Expressions for rules: RE2's language made Python's, and one expression for many words. Pure text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

#: Only widens a match to the whole name: costs much, and the secret is in a group.
_NAME_IN_FRONT = r"[\w.-]{0,50}?"


def translated(source: str) -> str:
    """Translate an expression of RE2 into Python's language.

    Flags may stand anywhere in RE2 and hold to the end of their group; its ``z`` anchor is ``Z`` here.
    """
    source = source.replace(r"\z", r"\Z").replace("[[:alnum:]]", "[A-Za-z0-9]").replace("[^[", r"[^\[")
    front = "(?i)" if source.startswith("(?i)") else ""
    source = source[len(front) :]
    return front + _scoped_flags(_without_name(source))


def _without_name(source: str) -> str:
    """Drop the optional name in front, also where the flag group begins with it."""
    source = source.removeprefix(_NAME_IN_FRONT)
    return "(?i:" + source[4 + len(_NAME_IN_FRONT) :] if source.startswith("(?i:" + _NAME_IN_FRONT) else source


def _scoped_flags(source: str) -> str:
    """Turn each ``(?i)`` inside an expression into a group that ends where the surrounding group ends."""
    made: list[str] = []
    open_flags = [0]  # flag groups opened in each surrounding group
    position, in_class = 0, False
    while position < len(source):
        char = source[position]
        if char == "\\":
            made.append(source[position : position + 2])
            position += 2
            continue
        if in_class:
            in_class = char != "]"
        elif char == "[":
            in_class = True
            if source[position + 1 : position + 2] == "]":
                made.append("[")
                position, char = position + 1, "\\]"
        elif source.startswith("(?i)", position):
            made.append("(?i:")
            open_flags[-1] += 1
            position += 4
            continue
        elif char == "(":
            open_flags.append(0)
        elif char == ")":
            made.append(")" * open_flags.pop())
        made.append(char)
        position += 1
    return "".join(made) + ")" * open_flags[0]


def any_of(words: Iterable[str]) -> str:
    """Return an expression that finds any of the words: their common beginnings are tried once."""
    tails: dict[str, list[str]] = {}
    for word in sorted(words):
        tails.setdefault(word[0], []).append(word[1:])
    parts = [
        re.escape(first) + ("" if "" in rest else any_of(rest) if len(rest) > 1 else re.escape(rest[0]))
        for first, rest in tails.items()
    ]
    return parts[0] if len(parts) == 1 else f"(?:{'|'.join(parts)})"
