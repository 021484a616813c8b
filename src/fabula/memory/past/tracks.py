"""Which file a file was before: moves into the archive and out of it, and renames made by hand. Pure.

Git guesses renames by likeness, and short memories are much alike: a new fact would pass for the old one it corrects.
Here a file that came has a predecessor only where the archive mirrors its path, or its article is the very same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.memory.format.paths import original_path

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    #: path -> a name of its fact (two files with one name are one fact); ``None`` where it has none
    Facts = Callable[[str], str | None]


def mirrors(one: str, other: str) -> bool:
    """Say whether one of two paths is the other in the archive, or both are one path archived in other years."""
    origins = original_path(one), original_path(other)
    if origins[0] is not None and origins[0] == origins[1]:
        return True
    return origins[0] == other or origins[1] == one


def moves_among(gone: Iterable[str], came: Iterable[str], before: Facts, after: Facts) -> dict[str, str]:
    """Return old path -> new path for files that moved.

    ``gone`` and ``came``: paths that one step removed and added; ``before`` and ``after`` name the facts of them.
    The archive's mirrors come first; then files with one fact, where exactly one went and one came with it.
    """
    left, right = sorted(set(gone)), sorted(set(came))
    moved: dict[str, str] = {}
    for old in left:
        new = next((path for path in right if mirrors(old, path)), None)
        if new is not None:
            moved[old] = new
            right.remove(new)
    rest = [old for old in left if old not in moved]
    if not rest or not right:
        return moved
    sources, targets = _by_fact(rest, before), _by_fact(right, after)
    for fact, paths in sources.items():
        if len(paths) == 1 and len(targets.get(fact, ())) == 1:
            moved[paths[0]] = targets[fact][0]
    return moved


def _by_fact(paths: Iterable[str], fact_of: Facts) -> Mapping[str, list[str]]:
    found: dict[str, list[str]] = {}
    for path in paths:
        fact = fact_of(path)
        if fact is not None:
            found.setdefault(fact, []).append(path)
    return found
