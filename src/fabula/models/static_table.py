"""A static embedding table: one vector a word piece; a text's vector is the weighted mean of its pieces' vectors.

No network runs: encoding is a look-up. The rows are int8 with one scale each, mapped into memory as they lie on disk;
numpy is imported only when a table is opened.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from fabula.kernel.errors import FabulaError
from fabula.kernel.hashes import digest
from fabula.models.wordpiece import WordPiece

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

ROWS = "rows.int8"
SCALES = "scales.float32"
VOCABULARY = "vocabulary.txt"
DIMENSIONS = 256
HEAD_DECAY = 15.0  # pieces after which a word at the head of a text counts 1/e: a text says first what it is about


class StaticTable:
    """An opened table. Vectors are float32 arrays of :data:`DIMENSIONS`, of length 1; without words all zeros."""

    def __init__(self, numpy: Any, rows: Any, scales: Any, vocabulary: Sequence[str], tag: bytes) -> None:
        self._numpy = numpy
        self._rows = rows
        self._scales = scales
        self._vocabulary = {piece: number for number, piece in enumerate(vocabulary)}
        self.tag = tag  # four bytes that tell this table from any other

    @cached_property
    def pieces(self) -> WordPiece:
        """The tokenizer that belongs to the table."""
        return WordPiece(self._vocabulary)

    def vectors(self, ids: Sequence[int]) -> Any:
        """Return the vectors of pieces, as they are: float32 [len(ids), DIMENSIONS]."""
        index = self._numpy.asarray(ids, dtype=self._numpy.int64)
        return self._rows[index].astype(self._numpy.float32) * self._scales[index, None]

    def mean(self, ids: Sequence[int], *, head: bool) -> Any:
        """Return the vector of a text of these pieces; ``head`` weighs its beginning (see :data:`HEAD_DECAY`)."""
        numpy = self._numpy
        if not len(ids):
            return numpy.zeros(DIMENSIONS, numpy.float32)
        found = self.vectors(ids)
        if head:
            found *= numpy.exp(-numpy.arange(len(ids), dtype=numpy.float32) / HEAD_DECAY)[:, None]
        return unit(numpy, found.sum(axis=0))

    def knows(self, word: str) -> bool:
        """Say whether a word has a vector of its own."""
        return word.lower() in self._vocabulary


def unit(numpy: Any, vectors: Any) -> Any:
    """Return vectors (along the last axis) at length 1; zeros stay zeros."""
    return vectors / numpy.maximum(numpy.linalg.norm(vectors, axis=-1, keepdims=True), 1e-9)


def open_table(folder: Path) -> StaticTable:
    """Open the table in ``folder``. Raises ``ERR_EXTRA_MISSING`` without numpy or without the table's files."""
    try:
        import numpy
    except ImportError as error:
        raise FabulaError(
            "ERR_EXTRA_MISSING", "vectors need numpy, which is not installed", "pip install 'fabula[models]'"
        ) from error
    try:
        vocabulary = (folder / VOCABULARY).read_text("utf-8").split("\n")
        scales = numpy.fromfile(folder / SCALES, dtype="<f4")
        rows = numpy.memmap(folder / ROWS, dtype=numpy.int8, mode="r").reshape(-1, DIMENSIONS)
    except (OSError, ValueError) as error:
        raise FabulaError(
            "ERR_EXTRA_MISSING", f"the embedding table in {folder} is missing or cut short", "reinstall Fabula"
        ) from error
    if not len(vocabulary) == len(scales) == len(rows):
        raise FabulaError("ERR_EXTRA_MISSING", f"the embedding table in {folder} is not whole", "reinstall Fabula")
    return StaticTable(numpy, rows, scales, vocabulary, digest(scales.tobytes())[:4])
