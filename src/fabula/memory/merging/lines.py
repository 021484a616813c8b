"""One line for each file of two sides and their common version, followed through moves. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.kernel.values import frozen

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


@frozen
class Line:
    """A file: where it lies in the common version, on our side and on theirs; empty where it is not."""

    base: str
    ours: str
    theirs: str


def lines_of(
    base: Mapping[str, object],
    ours: Mapping[str, object],
    theirs: Mapping[str, object],
    moved: tuple[Mapping[str, str], Mapping[str, str]],
) -> Iterator[Line]:
    """Yield the lines of all files that are not the same everywhere.

    The mappings are path -> file; ``moved``: old path -> new path on our side, and on theirs.
    """
    sides = ((ours, moved[0]), (theirs, moved[1]))
    taken: tuple[set[str], set[str]] = (set(), set())
    for path in sorted(base):
        if ours.get(path) == base[path] == theirs.get(path):
            continue
        places = [path if path in side else moves.get(path, "") for side, moves in sides]
        for place, used in zip(places, taken, strict=True):
            used.add(place)
        yield Line(path, *places)
    new = [
        {path for path in side if path not in base and path not in used}
        for (side, _), used in zip(sides, taken, strict=True)
    ]
    for path in sorted(new[0] | new[1]):
        yield Line("", path if path in new[0] else "", path if path in new[1] else "")
