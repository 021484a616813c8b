"""The static table as an embedder, by whole numbers alone: no numpy, no network, nothing to install.

A text's vector is the sum of its word pieces' rows, each times its scale. Rows are added as one large integer of 32-bit
lanes: what a loop over 256 numbers would do in 20 µs takes one addition, 0.2 µs. Lanes hold ``component + 128`` (never
negative), so that no lane borrows from the next; the bias is taken off at the end.
"""

from __future__ import annotations

import sys
from array import array
from functools import cached_property
from typing import TYPE_CHECKING, Final

from fabula.kernel.errors import FabulaError
from fabula.kernel.hashes import digest
from fabula.models.embedding import direction
from fabula.models.wordpiece import WordPiece

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

ROWS, SCALES, VOCABULARY = "rows.int8", "scales.float32", "vocabulary.txt"
DIMENSIONS: Final = 256
MOST_PIECES: Final = 512  # of one text; what follows is not embedded
HEAVIEST: Final = 4_095  # the largest weight of a row: 255 · 4095 · 512 pieces fit into a lane of 32 bits
_BIAS: Final = 128
_SIGNED = bytes((code + _BIAS) % 256 for code in range(256))  # an int8 component, as a byte, to component + 128
_REMEMBERED: Final = 4_096  # rows kept as integers, 1 KB each


class StaticEmbedder:
    """Embeds by the table in ``folder``; it is read when the first text comes.

    Raises ``ERR_EXTRA_MISSING`` when the table is missing or not whole.
    """

    most_at_once = 1_000  # 0.4 ms a memory

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._known: dict[int, int] = {}
        try:
            self._scales = array("f")
            self._scales.frombytes((folder / SCALES).read_bytes())
            rows = (folder / ROWS).stat().st_size
        except (OSError, ValueError) as error:
            raise self._missing() from error
        if sys.byteorder == "big":
            self._scales.byteswap()
        if not len(self._scales) or rows != len(self._scales) * DIMENSIONS:
            raise self._missing()

    @cached_property
    def space(self) -> str:
        """The table's name and what tells it from any other."""
        return f"static/{digest(self._scales.tobytes())[:4].hex()}/{DIMENSIONS}"

    def documents(self, texts: Sequence[str]) -> list[bytes]:
        """Return a vector for each text."""
        return [self.query(text) for text in texts]

    def query(self, text: str) -> bytes:
        """Return the vector of a text: ``Σ row · scale`` over its pieces, as a direction."""
        ids = self._pieces.ids(text, MOST_PIECES)
        return self._direction(ids) if ids else b""

    def _direction(self, ids: Sequence[int]) -> bytes:
        total = bias = 0
        for one in ids:
            weight = self._weight(one)
            total += self._lanes(one) * weight
            bias += _BIAS * weight
        lanes = array("I")
        lanes.frombytes(total.to_bytes(4 * DIMENSIONS, "little"))
        if sys.byteorder == "big":
            lanes.byteswap()
        return direction([lane - bias for lane in lanes])

    def _weight(self, number: int) -> int:
        return round(self._scales[number] / self._heaviest * HEAVIEST)

    def _lanes(self, number: int) -> int:
        lanes = self._known.get(number)
        if lanes is None:
            wide = bytearray(4 * DIMENSIONS)
            wide[::4] = self._rows[number * DIMENSIONS : (number + 1) * DIMENSIONS].translate(_SIGNED)
            if len(self._known) >= _REMEMBERED:
                self._known.clear()
            lanes = self._known[number] = int.from_bytes(wide, "little")
        return lanes

    @cached_property
    def _heaviest(self) -> float:
        return max(self._scales)

    @cached_property
    def _rows(self) -> bytes:
        from mmap import ACCESS_READ, mmap

        try:
            with (self._folder / ROWS).open("rb") as file:
                return mmap(file.fileno(), 0, access=ACCESS_READ)  # type: ignore[return-value]  # slices are bytes
        except (OSError, ValueError) as error:
            raise self._missing() from error

    @cached_property
    def _pieces(self) -> WordPiece:
        try:
            vocabulary = (self._folder / VOCABULARY).read_text("utf-8").split("\n")
        except (OSError, ValueError) as error:
            raise self._missing() from error
        if len(vocabulary) != len(self._scales):
            raise self._missing()
        return WordPiece({piece: number for number, piece in enumerate(vocabulary)})

    def _missing(self) -> FabulaError:
        return FabulaError(
            "ERR_EXTRA_MISSING", f"the embedding table in {self._folder} is missing or not whole", "reinstall Fabula"
        )
