"""Walking through all that is sealed, piece by piece, reading only what is asked for."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Self

from fabula.kernel.errors import FabulaError
from fabula.record.vault import manifest
from fabula.record.vault.reading import Reading

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path
    from types import TracebackType

    from fabula.record.vault.journal import Journal, Place

Step = tuple[manifest.Piece, "Callable[[], bytes | None]"]


class Walk:
    """Reads one vault's generations in the order of their bytes. Never writes."""

    def __init__(self, folder: Path, journal: Journal) -> None:
        self._journal = journal
        self._reading = Reading(folder, journal)

    def pieces(self, generation_id: int) -> Iterator[Step]:
        """Yield each piece of a generation and what reads its bytes (``None`` when they are damaged).

        Holes are among the pieces and have no bytes. Damaged manifests end the walk of that generation.
        """
        query = "select offset, length, layout, digests from manifests where generation_id=? order by offset"
        for row in self._journal.rows(query, (generation_id,)):
            try:
                pieces = list(manifest.Segment(*row).pieces())
            except ValueError:
                return
            places = self._journal.places([piece.value for piece in pieces if piece.kind in manifest.IN_PACK])
            for piece in pieces:
                yield piece, partial(self._read, piece, places.get(piece.value))

    def _read(self, piece: manifest.Piece, place: Place | None) -> bytes | None:
        if piece.kind == manifest.GAP:
            return piece.value
        if piece.kind == manifest.HOLE:
            return None
        try:
            return self._reading.record(piece.value, piece.length, place)
        except FabulaError:
            return None

    def tail(self, generation_id: int) -> bytes:
        """Return the unterminated last line of a generation."""
        row = self._journal.generation(generation_id)
        return row.tail if row else b""

    def close(self) -> None:
        """Close the packs."""
        self._reading.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
