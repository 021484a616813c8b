"""What an embedder is: texts to vectors of signed bytes, in a space that has a name.

A vector keeps a direction alone, in as many bytes as it has dimensions: cosines differ from those of 32-bit numbers by
less than 0.001, the products are whole numbers, and so every machine ranks alike, with numpy or without.
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, Final, Protocol

from fabula.kernel.values import frozen

if TYPE_CHECKING:
    from collections.abc import Sequence

MOST: Final = 127  # the largest component of a vector


class Embedder(Protocol):
    """Makes vectors of texts. Vectors of two spaces are never compared.

    A vector is one signed byte a dimension; ``b""`` says that nothing in the text is known. Calls raise
    ``ERR_EMBEDDER`` when the model does not answer and ``ERR_EXTRA_MISSING`` when it is not installed.
    """

    @property
    def space(self) -> str:
        """The name of the space: what made the vectors, so that a change of it is seen."""
        ...

    @property
    def most_at_once(self) -> int:
        """Memories that one search may embed in passing."""
        ...

    def documents(self, texts: Sequence[str]) -> list[bytes]:
        """Return a vector for each text that is to be found."""
        ...

    def query(self, text: str) -> bytes:
        """Return the vector of a text that is looked for."""
        ...


@frozen
class Unavailable:
    """Stands in the place of an embedder: why there is none, and the command that changes it."""

    reason: str
    remedy: str = ""


def direction(components: Sequence[float]) -> bytes:
    """Return a vector's direction as signed bytes, the largest component at ±127; zeros give ``b""``.

    Raises ``ValueError`` for a component that is no finite number.
    """
    largest = max((abs(one) for one in components), default=0.0)
    if not largest < float("inf") or any(one != one for one in components):  # noqa: PLR0124 - a test for NaN
        raise ValueError("a component of the vector is no finite number")
    if not largest:
        return b""
    return array("b", [round(one * MOST / largest) for one in components]).tobytes()
