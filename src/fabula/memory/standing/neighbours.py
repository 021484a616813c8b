"""Which memories are near each other by their vectors. Pure.

What comes of it are suggestions (derived edges): they may lead a reader on, and never lower anyone's standing.
"""

from __future__ import annotations

from array import array
from math import isnan
from sys import byteorder
from typing import TYPE_CHECKING

from fabula.kernel.values import frozen
from fabula.memory.standing.constants import RELATED_EACH, RELATED_FROM, RELATED_MOST
from fabula.memory.standing.numbers import cosine

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


@frozen
class Near:
    """``target`` is near ``source``."""

    source: str
    target: str
    similarity: float


def nearest_pairs(
    vectors: Mapping[str, Sequence[float]],
    floor: float = RELATED_FROM,
    each: int = RELATED_EACH,
    limit: int = RELATED_MOST,
) -> list[Near]:
    """Compare all with all: see :func:`ranked_pairs`. Costs n²/2 comparisons: for hundreds; an index serves more."""
    names = sorted(vectors)
    pairs = ((left, right) for at, left in enumerate(names) for right in names[at + 1 :])
    return ranked_pairs(vectors, pairs, floor, each, limit)


def ranked_pairs(
    vectors: Mapping[str, Sequence[float]],
    pairs: Iterable[tuple[str, str]],
    floor: float = RELATED_FROM,
    each: int = RELATED_EACH,
    limit: int = RELATED_MOST,
) -> list[Near]:
    """Return pairs with cosine ``floor`` or more, both ways, the best ``each`` of a source, ``limit`` in all.

    Order: similarity falling, source, target; a source's ties go to the smaller target. Vectors of different length
    are compared over what both have; what gives no number is left out.
    """
    found: dict[str, set[tuple[float, str]]] = {}
    for left, right in pairs:
        if left == right or left not in vectors or right not in vectors:
            continue
        similarity = cosine(vectors[left], vectors[right])
        if isnan(similarity) or similarity < floor:
            continue
        found.setdefault(left, set()).add((-similarity, right))
        found.setdefault(right, set()).add((-similarity, left))
    kept = [
        Near(source, target, -falling)
        for source, targets in found.items()
        for falling, target in sorted(targets)[: max(0, each)]
    ]
    return sorted(kept, key=lambda near: (-near.similarity, near.source, near.target))[: max(0, limit)]


def from_float32(blob: bytes | memoryview) -> list[float]:
    """Read a vector of little-endian 32-bit numbers, wherever it begins in memory.

    Raises ``ValueError`` when the size is no positive multiple of four.
    """
    if len(blob) == 0 or len(blob) % 4:
        raise ValueError(f"{len(blob)} bytes are no vector of 32-bit numbers")
    values = array("f")
    values.frombytes(bytes(blob))
    if byteorder == "big":
        values.byteswap()
    return values.tolist()
