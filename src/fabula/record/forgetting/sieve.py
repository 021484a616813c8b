"""Keeping forgotten records out: what a scan reads from a host's file passes here, where anything was ever forgotten.

What is known again is not mapped, and its bytes become a hole in the vault's manifest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.kernel.hashes import digest
from fabula.record.forgetting.marks import marks_of, marks_of_ids
from fabula.record.vault.tombstones import mark_of_bytes, mark_of_start

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fabula.kernel.records import Accounting, Record
    from fabula.record.sources import Chunk
    from fabula.record.vault.tombstones import Tombstones

SKIPPED = "forgotten"  # under which a record is counted that was forgotten
NOTHING: frozenset[int] = frozenset()


class Sieve:
    """Strains the chunks of one file; ``path`` is the file's."""

    def __init__(self, tombstones: Tombstones, path: str) -> None:
        self._tombstones = tombstones
        self._path = path
        self._behind_gone = False  # the record before was forgotten
        self.holes: frozenset[int] = NOTHING  # of the chunk in hand: where a piece begins that was forgotten

    def strain_heads(self, chunk: Chunk) -> None:
        """Find forgotten gaps of a chunk, and take out the heads of documents that lie in them."""
        gone = [(start, end) for start, end in gaps(chunk) if self._is_gap_gone(chunk, start, end)]
        self.holes = frozenset(start for start, _ in gone)
        if gone:
            chunk.values = [
                found
                for found in chunk.values
                if found.counts or not any(start <= found.offset < end for start, end in gone)
            ]

    def strain(self, chunk: Chunk, records: list[Record], accounting: Accounting) -> list[Record]:
        """Return those of a chunk's records that were not forgotten; note the holes that the others leave."""
        made = {record.offset: record for record in records}
        holes = {
            found.offset
            for found in chunk.values
            if found.counts and self._is_gone(chunk, found.offset, found.length, found.value, made.get(found.offset))
        }
        if not holes:
            return records
        self.holes |= holes
        kept = [record for record in records if record.offset not in holes]
        gone = len(records) - len(kept)
        accounting.indexed -= gone
        accounting.skipped[SKIPPED] = accounting.skipped.get(SKIPPED, 0) + gone
        return kept

    def tail(self, offset: int, data: bytes) -> bytes:
        """Return an unterminated last line as it may be kept: empty when it was forgotten."""
        if not data:
            return data
        marks = [mark_of_start(self._path, offset), mark_of_bytes(self._path, digest(data), len(data))]
        return b"" if self._tombstones.any_of([*marks, *marks_of_ids(data)]) else data

    def _is_gone(self, chunk: Chunk, offset: int, length: int, value: object, record: Record | None) -> bool:
        start = offset - chunk.offset
        sha = digest(chunk.data[start : start + length])
        marks = marks_of(self._path, sha, length, value, record or "")
        gone = self._tombstones.any_of([*marks, mark_of_start(self._path, offset)], weak=self._behind_gone)
        if gone or record is not None:
            self._behind_gone = gone
        return gone

    def _is_gap_gone(self, chunk: Chunk, start: int, end: int) -> bool:
        data = chunk.data[start - chunk.offset : end - chunk.offset]
        if not data.strip():
            return False
        return self._tombstones.any_of([mark_of_bytes(self._path, digest(data), len(data)), *marks_of_ids(data)])


def gaps(chunk: Chunk) -> Iterator[tuple[int, int]]:
    """Yield the stretches (begin, end in the file) of a chunk that are no record's."""
    position = chunk.offset
    for found in chunk.values:
        if not found.counts or found.offset < position or not found.length:
            continue
        if found.offset > position:
            yield position, found.offset
        position = found.offset + found.length
    end = chunk.offset + len(chunk.data)
    if position < end:
        yield position, end
