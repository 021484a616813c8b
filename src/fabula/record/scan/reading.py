"""Reading one file: chunks from its container go to the vault, their values through the normaliser to the map."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fabula.kernel.values import define
from fabula.record.reading.sentinels import hide_across_blocks
from fabula.record.scan.changes import is_appendable
from fabula.record.scan.tails import TAIL_BYTES, tail_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fabula.kernel.records import Record, SourceFile
    from fabula.record.forgetting.sieve import Sieve
    from fabula.record.map.files import KnownFile
    from fabula.record.sources import Chunk, Container, Normaliser, TypedLines
    from fabula.record.vault.vault import Vault


@define
class FileReading:
    """A file being read from ``known.read_to`` on; ``known`` is brought up to date as chunks pass.

    ``sealed_to`` is how much of the file the vault holds already: a map that lags behind reads those bytes again
    without sealing them.
    """

    file: SourceFile
    known: KnownFile
    container: Container
    normaliser: Normaliser
    vault: Vault | None
    sealed_to: int
    before: bytes = b""  # up to 4 KB that lie before ``known.read_to``
    chunk: Chunk | None = None  # the one in hand
    sieve: Sieve | None = None  # keeps out what was forgotten, where anything ever was
    typed: TypedLines | None = None  # what the normaliser reads besides mappings

    def chunks(self) -> Iterator[tuple[int, list[Record]]]:
        """Yield (bytes, records) of each chunk, sealed and counted. Raises ``OSError``."""
        if self.sieve is None and hasattr(self.container, "typed") and hasattr(self.normaliser, "typed_lines"):
            self.container.typed = self.typed = self.normaliser.typed_lines()
        for chunk in self.container.chunks(self.known.read_to):
            self.chunk = chunk
            records = self._records(chunk) if self.sieve is None else self._strained(self.sieve, chunk)
            self._seal(chunk)
            end = chunk.offset + len(chunk.data)
            self.known.read_to = end
            if is_appendable(self.file.path):  # of others all bytes are compared
                self.known.tail_digest = tail_of(chunk.data, self.before)
                self.before = (self.before + chunk.data[-TAIL_BYTES:])[-TAIL_BYTES:]
            self.known.state = self.normaliser.state
            yield len(chunk.data), records

    def bytes_at(self, offset: int, length: int) -> bytes:
        """Return a span of the chunk in hand."""
        if self.chunk is None:
            return b""
        start = offset - self.chunk.offset
        return self.chunk.data[start : start + length]

    def finish(self) -> None:
        """Note and seal the unterminated last line."""
        self.known.waiting = self.container.waiting
        tail = self.container.tail
        if self.sieve is not None:
            tail = self.sieve.tail(self.known.read_to, tail)
            if not self.known.accounting.indexed:
                self.known.state = None  # what the normaliser remembers of forgotten records goes with them
        if self.vault is not None and self.known.vault_generation is not None:
            self.vault.set_tail(self.known.vault_generation, tail)

    def _strained(self, sieve: Sieve, chunk: Chunk) -> list[Record]:
        sieve.strain_heads(chunk)
        return sieve.strain(chunk, self._records(chunk), self.known.accounting)

    def _records(self, chunk: Chunk) -> list[Record]:
        accounting = self.known.accounting
        normalise = self.normaliser.normalise
        types: tuple[type[Any], ...] = (dict,) if self.typed is None else (self.typed.type, dict)
        records: list[Record] = []
        spans = 0
        for found in chunk.values:
            value = found.value
            if not found.counts:  # a document's head: context for the normaliser
                normalise(value, found.offset, found.length)
                continue
            spans += found.length
            accounting.recovered += found.recovered
            if not isinstance(value, types):
                accounting.skip("not-an-object")
                continue
            record = normalise(value, found.offset, found.length)
            if isinstance(record, str):
                accounting.skip(record)
                continue
            if len(record.blocks) > 1:
                hide_across_blocks(record.blocks)
            records.append(record)
        accounting.objects += len(records)
        accounting.indexed += len(records)
        accounting.span_bytes += spans
        accounting.unreadable_bytes += chunk.unreadable
        accounting.gap_bytes += len(chunk.data) - spans - chunk.unreadable
        return records

    def _seal(self, chunk: Chunk) -> None:
        if self.vault is None or self.known.vault_generation is None:
            return
        if chunk.offset + len(chunk.data) > self.sealed_to:
            spans = [(found.offset, found.length) for found in chunk.values if found.counts]
            holes = self.sieve.holes if self.sieve is not None else frozenset()
            self.vault.append(self.known.vault_generation, chunk.offset, chunk.data, spans, holes, self.before)
