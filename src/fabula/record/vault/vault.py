"""The vault: every byte of every source, kept for good.

Truth lies in ``vault/``: packs of distinct records, and ``journal.db`` that says how files are made of them.
The commit point is one transaction of the journal, after the packs were synced: a crash leaves the state before it
or after it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Self

from fabula.kernel.errors import FabulaError
from fabula.kernel.text import storable
from fabula.record.vault.filling import Filling
from fabula.record.vault.folder import LOCK, require_journal
from fabula.record.vault.journal import Batch, GenerationRow, Journal
from fabula.record.vault.mending import mend
from fabula.record.vault.reading import Reading
from fabula.record.vault.repairing import rebuild
from fabula.record.vault.restoring import restore
from fabula.record.vault.sealing import Sealing
from fabula.record.vault.statistics import measure
from fabula.record.vault.values import TAIL_WINDOW, Damage, Generation, RepairReport, SourceEntry, VaultStats
from fabula.record.vault.verifying import verify
from fabula.storage.files import ensure_folder
from fabula.storage.locks import FileLock

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path
    from types import TracebackType

    from fabula.kernel.clock import Clock
    from fabula.kernel.records import Provenance

LOCK_WAIT_SECONDS = 5.0


class Vault:
    """One vault, open for reading or for writing, used by one thread.

    Several processes may read while one writes; a second writer gets ``ERR_LOCKED``. Reads answer from what is
    committed. After an error while writing, close the vault: what was not committed is then undone.
    """

    def __init__(self, folder: Path, clock: Clock, journal: Journal, lock: FileLock | None) -> None:
        """Use :meth:`open`."""
        self.folder = folder
        self.journal = journal
        self._clock = clock
        self._lock = lock
        self._reading = Reading(folder, journal)
        self._batch = Batch()
        self._new_sources: dict[tuple[str, str], int] = {}  # not committed yet
        self._filling: Filling | None = None
        self._sealing: Sealing | None = None
        if lock is not None:
            self._next_source = journal.last_id("sources") + 1
            self._next_generation = journal.last_id("generations") + 1

    @classmethod
    def open(cls, folder: Path, clock: Clock, *, create: bool = True, read_only: bool = False) -> Vault:
        """Open the vault in ``folder``.

        Raises ``ERR_NO_RECORD`` when there is none (reading, or not ``create``), ``ERR_LOCKED`` when another process
        writes, ``ERR_VAULT_FORMAT``, ``ERR_DATABASE``, ``ERR_READ_ONLY``, ``ERR_DISK``.
        """
        if read_only:
            return cls(folder, clock, Journal.open(folder, read_only=True), None)
        if not create and not folder.exists():
            raise FabulaError("ERR_NO_RECORD", f"{folder} does not exist", "fabula record scan")
        ensure_folder(folder)
        require_journal(folder)
        lock = FileLock(folder / LOCK, LOCK_WAIT_SECONDS)
        lock.__enter__()
        try:
            journal = Journal.open(folder, read_only=False)
            try:
                return cls(folder, clock, journal, lock)
            except BaseException:
                journal.close()
                raise
        except BaseException:
            lock.release()
            raise

    @classmethod
    def repair(cls, folder: Path, clock: Clock) -> RepairReport:
        """Make a new journal from the packs and what can be read of the old one; seal lost records again from sources.

        Raises ``ERR_NO_RECORD``, ``ERR_LOCKED``, ``ERR_READ_ONLY``, ``ERR_DISK``.
        """
        if not folder.exists():
            raise FabulaError("ERR_NO_RECORD", f"{folder} does not exist", "fabula record scan")
        with FileLock(folder / LOCK, LOCK_WAIT_SECONDS):
            rebuilt = rebuild(folder)
        with cls.open(folder, clock) as vault:
            mended, lost = vault.mend()
            vault.commit()
        return RepairReport(rebuilt.packs, rebuilt.records, mended, lost, tuple(rebuilt.problems))

    # -- the ledger ----------------------------------------------------------------------------------------------

    def source(self, host: str, path: str, kind: str, session: str, parent: str = "") -> SourceEntry:
        """Return the ledger's entry for a file; at first sight it is written down.

        ``parent`` is the session that spawned the file's own.
        """
        new = self._new_sources.get((host, path))
        found = self._entry(new) if new else self.journal.source_at(host, path)
        if found is None:
            now = self._clock.now_ms()
            found = SourceEntry(
                self._next_source, host, path, kind, storable(session), now, now, 0, None, storable(parent)
            )
            self._next_source += 1
            self._batch.sources[found.id] = found
            self._new_sources[host, path] = found.id
        return self._with_generations(found)

    def _with_generations(self, entry: SourceEntry) -> SourceEntry:
        rows = {generation.id: generation for generation in self.journal.generations(entry.id)}
        rows.update({row.id: row.value() for row in self._batch.generations.values() if row.source_id == entry.id})
        return replace(entry, generations=tuple(rows[key] for key in sorted(rows)))

    def _entry(self, source_id: int) -> SourceEntry:
        entry = self._batch.sources.get(source_id)
        if entry is None:
            found = self.journal.sources("where id=?", (source_id,))
            if not found:
                raise FabulaError("ERR_NOT_FOUND", f"the vault has no source {source_id}")
            entry = found[0]
        return entry

    def seen(self, source_id: int, size: int, *, session: str | None = None) -> None:
        """Note that a file is there now, ``size`` bytes long; ``session`` corrects what was known at first sight."""
        entry = self._entry(source_id)
        self._batch.sources[source_id] = replace(
            entry, last_seen=self._clock.now_ms(), size=size, vanished_at=None,
            session=entry.session if session is None else session,
        )  # fmt: skip

    def vanished(self, source_id: int) -> None:
        """Note that a file is gone; its bytes stay. The first time counts."""
        entry = self._entry(source_id)
        if entry.vanished_at is None:
            self._batch.sources[source_id] = replace(entry, vanished_at=self._clock.now_ms())

    def sources(self) -> list[SourceEntry]:
        """Return the committed ledger, in order of first sight."""
        return self.journal.sources("order by id")

    # -- sealing -------------------------------------------------------------------------------------------------

    def current(self, source_id: int) -> Generation | None:
        """Return the generation that was begun last, uncommitted appends included; ``None`` before the first."""
        generations = self._with_generations(self._entry(source_id)).generations
        return generations[-1] if generations else None

    def begin(
        self, source_id: int, *, provenance: Provenance, immutable: bool, number: int | None = None
    ) -> Generation:
        """Begin a new generation of a source: it is seen first, or was rewritten.

        ``number`` defaults to one more than the highest; a number that exists gives that generation back.
        """
        known = self._with_generations(self._entry(source_id)).generations
        for generation in known:
            if generation.number == number:
                return generation
        if number is None:
            number = max((generation.number for generation in known), default=-1) + 1
        now = self._clock.now_ms()
        row = GenerationRow(
            self._next_generation, source_id, number, provenance, int(immutable), 0, None, b"", now, now
        )
        self._next_generation += 1
        self._batch.generations[row.id] = row
        return row.value()

    def append(self, generation_id: int, offset: int, data: bytes, spans: Sequence[tuple[int, int]]) -> None:
        """Seal ``data``, which lies at byte ``offset`` of the file; ``spans`` are its records as (file offset, length).

        Bytes sealed already are skipped, so appends may overlap and repeat. Nothing is durable before :meth:`commit`.
        Raises ``ERR_DISK``; ``ValueError`` when bytes between are missing or a span reaches beyond the data.
        """
        row = self._row(generation_id)
        if offset > row.length:
            raise ValueError(f"generation {generation_id} is sealed up to {row.length}, not up to {offset}")
        if offset + len(data) <= row.length:
            return
        sealing = self._writer()[1]
        window = sealing.window(generation_id)
        if window is None:
            length = min(row.length, TAIL_WINDOW)
            window = self._reading.read(generation_id, row.length - length, length) if length else b""
        sealing.append(row, offset, data, spans, window)
        row.sealed_at = self._clock.now_ms()
        self._batch.generations[generation_id] = row

    def set_tail(self, generation_id: int, tail: bytes) -> None:
        """Keep the unterminated last line that follows the sealed bytes, until it is completed."""
        row = self._row(generation_id)
        if row.tail != tail:
            row.tail = tail
            row.sealed_at = self._clock.now_ms()
            self._batch.generations[generation_id] = row

    def _row(self, generation_id: int) -> GenerationRow:
        row = self._batch.generations.get(generation_id) or self.journal.generation(generation_id)
        if row is None:
            raise FabulaError("ERR_NOT_FOUND", f"the vault has no generation {generation_id}")
        return row

    def _writer(self) -> tuple[Filling, Sealing]:
        if self._lock is None:
            raise FabulaError("ERR_READ_ONLY", f"{self.folder} was opened for reading")
        if self._filling is None or self._sealing is None:
            self._filling = Filling(self.folder, self.journal, self._batch)
            self._sealing = Sealing(self._filling, self._batch)
        return self._filling, self._sealing

    def commit(self) -> None:
        """Make everything durable: sync the packs, then write one transaction of the journal. Raises ``ERR_DISK``."""
        filling, sealing = self._writer()
        filling.sync()
        if self._batch:
            self.journal.commit(self._batch)
            self._batch.clear()
            self._new_sources.clear()
        filling.committed()
        sealing.committed()

    def mend(self) -> tuple[int, int]:
        """Seal lost records again where a source still holds their bytes.

        Returns how many were, and how many stay lost; durable with the next commit.
        """
        return mend(self.journal, self._writer()[0])

    # -- reading -------------------------------------------------------------------------------------------------

    def read(self, generation_id: int, offset: int, length: int) -> bytes:
        """Return committed bytes, checked against their digests. Raises ``ERR_NOT_FOUND``, ``ERR_VAULT_DAMAGED``."""
        return self._reading.read(generation_id, offset, length)

    def digest(self, generation_id: int, offset: int, length: int) -> bytes | None:
        """Return the SHA-256 of a record that was sealed as exactly this span, without reading it; else ``None``."""
        return self._reading.digest(generation_id, offset, length)

    def stream(self, generation_id: int, start: int = 0) -> Iterator[bytes]:
        """Yield a generation's bytes from ``start``, tail included, in pieces of about 1 MB. Raises as :meth:`read`."""
        return self._reading.stream(generation_id, start)

    def restore(self, generation_id: int, out: Path) -> int:
        """Write a generation to the file ``out``, byte for byte, atomically; return its size. Raises as `read`."""
        return restore(self._reading.stream(generation_id), out)

    def verify(self) -> Iterator[Damage]:
        """Read everything; yield what is not as it was written, and the files that it hits."""
        return verify(self.folder, self.journal)

    def stats(self) -> VaultStats:
        """Return counts and sizes of what is committed."""
        return measure(self.journal)

    # -- closing -------------------------------------------------------------------------------------------------

    def close(self) -> None:
        """Close the vault; what was not committed is undone."""
        self._reading.close()
        try:
            if self._filling is not None:
                self._filling.close()
        finally:
            self.journal.close()
            if self._lock is not None:
                self._lock.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
