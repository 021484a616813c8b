"""The pieces of many memories side by side, and which of them are nearest to a question.

Signs first, of all pieces; then the components of the few that are left. A process that asks once does so without numpy
(importing it costs as much as eighty comparisons with 10,000 pieces save); one that asks again and again uses it where
it is installed. All products are whole numbers, so both give the same.
"""

from __future__ import annotations

from collections import Counter
from math import sqrt
from typing import TYPE_CHECKING, Any, Final

from fabula.memory.retrieval.packed import Probe, laid_out, pieces

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping

QUESTIONS: Final = 8  # after so many in one process the next ones are likely


class Arena:
    """Holds pieces of one dimension; their order does not matter. ``texts``: which text of each memory is in it."""

    def __init__(self, dimension: int) -> None:
        """Make an empty one."""
        self.dimension = dimension
        self.texts: dict[int, bytes] = {}
        self.stamp: Hashable = None
        self._owners: list[int] = []
        self._signs: list[int] = []
        self._places: list[tuple[bytes, int]] = []  # the blob that a piece is in, and where it begins
        self._asked = 0
        self._matrix: _Matrix | None = None

    def become(self, wanted: Mapping[int, bytes], blobs: Mapping[bytes, bytes]) -> None:
        """Hold the pieces of these memories (id to hash of the text): only what changed is touched."""
        known = self.texts
        gone = {one for one, text in known.items() if wanted.get(one) != text}
        if gone:
            kept = [at for at, owner in enumerate(self._owners) if owner not in gone]
            self._owners = [self._owners[at] for at in kept]
            self._signs = [self._signs[at] for at in kept]
            self._places = [self._places[at] for at in kept]
        for owner in [one for one, text in wanted.items() if known.get(one) != text]:
            blob = blobs[wanted[owner]]
            for bits, start in pieces(blob, self.dimension):
                self._owners.append(owner)
                self._signs.append(bits)
                self._places.append((blob, start))
        self.texts, self._matrix, self._asked = dict(wanted), None, 0

    def nearest(self, query: bytes, enough: int) -> dict[int, float]:
        """Return the largest cosine of each memory that owns one of the nearest ``enough`` pieces, and some more.

        Pieces that differ from the question in equally many signs stand or fall together.
        """
        probe = Probe(query)
        self._asked += 1
        if self._asked > QUESTIONS and self._matrix is None and self._owners:
            self._matrix = _matrix(self._signs, self._places, self.dimension)
        if self._matrix is not None:
            return self._largest(self._matrix.nearest(probe, enough))
        far = list(map(int.bit_count, map(probe.signs.__xor__, self._signs)))
        limit = _limit(far, enough)
        near = [at for at, bits in enumerate(far) if bits <= limit]
        return self._largest((at, probe.cosine(*self._places[at])) for at in near)

    def _largest(self, found: Any) -> dict[int, float]:
        largest: dict[int, float] = {}
        for at, close in found:
            owner = self._owners[at]
            if close > largest.get(owner, -2.0):
                largest[owner] = close
        return largest


def _limit(far: list[int], enough: int) -> int:
    """Return within how many differing bits at least ``enough`` lie."""
    number = 0
    for bits, many in sorted(Counter(far).items()):
        number += many
        if number >= enough:
            return bits
    return max(far, default=0)


class _Matrix:
    """The same pieces as arrays of numpy."""

    def __init__(self, numpy: Any, signs: Any, components: Any, squares: Any) -> None:
        self._numpy, self._signs, self._components, self._squares = numpy, signs, components, squares

    def nearest(self, probe: Probe, enough: int) -> list[tuple[int, float]]:
        """Return (number, cosine) of the pieces that differ in the fewest signs."""
        numpy = self._numpy
        width = self._signs.shape[1]
        wanted = numpy.frombuffer(probe.signs.to_bytes(width, "little"), numpy.uint8)
        far = numpy.bitwise_count(self._signs ^ wanted).sum(axis=1, dtype=numpy.int32)
        limit = numpy.partition(far, enough - 1)[enough - 1] if enough < len(far) else far.max()
        near = numpy.flatnonzero(far <= limit)
        components = numpy.asarray(probe.components, numpy.int32)
        products = numpy.einsum("pd,d->p", self._components[near].astype(numpy.int32), components).tolist()
        squares = self._squares[near].tolist()
        return [
            (at, product / sqrt(probe.square * square) if square else 0.0)
            for at, product, square in zip(near.tolist(), products, squares, strict=True)
        ]


def _matrix(signs: list[int], places: list[tuple[bytes, int]], dimension: int) -> _Matrix | None:
    """Lay pieces out for numpy; ``None`` where it is missing, or older than counting bits."""
    try:
        import numpy
    except ImportError:
        return None
    if not hasattr(numpy, "bitwise_count"):
        return None
    width = (dimension + 7) // 8
    bits = numpy.frombuffer(b"".join(one.to_bytes(width, "little") for one in signs), numpy.uint8)
    found = [laid_out(blob, start, dimension) for blob, start in places]
    components = numpy.frombuffer(b"".join(one for one, _ in found), numpy.int8).reshape(-1, dimension)
    squares = numpy.asarray([square for _, square in found], numpy.int64)
    return _Matrix(numpy, bits.reshape(-1, width), components, squares)
