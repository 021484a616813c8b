"""The writing side of a vault: what is appended between two commits, and the commit."""

from __future__ import annotations

from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING

from fabula.kernel.errors import FabulaError
from fabula.kernel.hashes import digest
from fabula.record.vault.filling import Filling
from fabula.record.vault.journal import Batch
from fabula.record.vault.ledger import Ledger
from fabula.record.vault.sealing import Sealing
from fabula.record.vault.tombstones import Tombstones
from fabula.record.vault.values import TAIL_WINDOW

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from fabula.kernel.clock import Clock
    from fabula.record.vault.journal import GenerationRow, Journal
    from fabula.record.vault.reading import Reading


class Writing:
    """One writer's uncommitted changes. Packs are opened when the first record is sealed."""

    def __init__(self, folder: Path, journal: Journal, reading: Reading, clock: Clock) -> None:
        self._folder = folder
        self._journal = journal
        self._reading = reading
        self._clock = clock
        self._batch = Batch()
        self._failed = False

    @cached_property
    def ledger(self) -> Ledger:
        """Sources and generations."""
        return Ledger(self._journal, self._batch, self._clock)

    @cached_property
    def filling(self) -> Filling:
        """The packs; opening them cuts what a crash left beyond the last commit."""
        return Filling(self._folder, self._journal, self._batch)

    @cached_property
    def _sealing(self) -> Sealing:
        return Sealing(self.filling, self._batch, self.tombstones)

    @cached_property
    def tombstones(self) -> Tombstones | None:
        """What was forgotten before this writer began; ``None`` where nothing ever was."""
        return Tombstones.load(self._journal)

    @contextmanager
    def _whole(self) -> Iterator[None]:
        """Let no batch be committed of which a part failed."""
        if self._failed:
            raise FabulaError("ERR_DISK", f"{self._folder}: a write before this one failed", "repeat the command")
        try:
            yield
        except BaseException:
            self._failed = True
            raise

    def append(
        self,
        generation_id: int,
        offset: int,
        data: bytes,
        spans: Sequence[tuple[int, int]],
        holes: frozenset[int] = frozenset(),
        before: bytes = b"",
    ) -> None:
        """See ``Vault.append``."""
        row = self.ledger.row(generation_id)
        end = offset + len(data)
        if offset > row.length:
            raise ValueError(f"generation {generation_id} is sealed up to {row.length}, not up to {offset}")
        for start, length in spans:
            if start < offset or start + length > end:
                raise ValueError(f"the span {start}+{length} lies outside the data {offset}+{len(data)}")
        if end <= row.length:
            return
        with self._whole():
            known = before if offset == row.length else b""
            self._sealing.append(row, offset, data, spans, self._window(row, known), holes)
            self.ledger.grown(row)

    def _window(self, row: GenerationRow, before: bytes) -> bytes | None:
        """Return the last bytes sealed before: the digest of the new last bytes may reach into them.

        ``before`` are what a caller takes for them; they are where their digest says so.
        ``None`` when they are damaged or forgotten, which must not keep what is new from being sealed.
        """
        window = self._sealing.window(row.id)
        if window is not None or not row.length:
            return window or b""
        length = min(row.length, TAIL_WINDOW)
        if len(before) == length and row.tail_digest is not None and digest(before) == row.tail_digest:
            return before
        try:
            return self._reading.read(row.id, row.length - length, length)
        except FabulaError as error:
            if error.code not in {"ERR_VAULT_DAMAGED", "ERR_FORGOTTEN"}:
                raise
            return None

    def set_tail(self, generation_id: int, tail: bytes) -> None:
        """See ``Vault.set_tail``."""
        row = self.ledger.row(generation_id)
        if row.tail != tail:
            row.tail = tail
            self.ledger.grown(row)

    def commit(self) -> None:
        """See ``Vault.commit``."""
        with self._whole():
            opened = "filling" in self.__dict__
            if opened:
                self.filling.sync()
            if self._batch:
                self._journal.commit(self._batch)
                self._batch.clear()
            if opened:
                self.filling.committed()
                self._sealing.committed()

    def close(self) -> None:
        """Close the packs; what was not committed is undone."""
        if "filling" in self.__dict__:
            self.filling.close()
