"""The vault: every byte of every source, kept for good.

Truth lies in ``vault/``: packs of distinct records, and ``journal.db`` that says how files are made of them.
The commit point is one transaction of the journal, after the packs were synced: a crash leaves the state before it
or after it.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Self

from fabula.kernel.errors import FabulaError
from fabula.record.vault.folder import CONVERTING, LOCK, require_journal
from fabula.record.vault.journal import Journal

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path
    from types import TracebackType

    from fabula.kernel.clock import Clock
    from fabula.kernel.records import Provenance
    from fabula.record.vault.reading import Reading
    from fabula.record.vault.tombstones import Tombstones
    from fabula.record.vault.values import Damage, Generation, RepairReport, SourceEntry, VaultStats
    from fabula.record.vault.writing import Writing
    from fabula.storage.locks import FileLock

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
        self._lock = lock
        self._writing: Writing | None = None
        if lock is not None:  # readers, who are many and short-lived, do without the writing half
            from fabula.record.vault.writing import Writing

            self._writing = Writing(folder, journal, self._reading, clock)

    @cached_property
    def _reading(self) -> Reading:
        from fabula.record.vault.reading import Reading

        return Reading(self.folder, self.journal)

    @classmethod
    def open(cls, folder: Path, clock: Clock, *, create: bool = True, read_only: bool = False) -> Vault:
        """Open the vault in ``folder``.

        Raises ``ERR_NO_RECORD`` when there is none (reading, or not ``create``), ``ERR_LOCKED`` when another process
        writes, ``ERR_VAULT_FORMAT``, ``ERR_DATABASE``, ``ERR_READ_ONLY``, ``ERR_DISK``.
        """
        if read_only:
            return cls(folder, clock, Journal.open(folder, read_only=True), None)
        from fabula.storage.files import ensure_folder
        from fabula.storage.locks import FileLock

        if not create and not folder.exists():
            raise FabulaError("ERR_NO_RECORD", f"{folder} does not exist", "fabula record scan")
        ensure_folder(folder)
        require_journal(folder)
        lock = FileLock(folder / LOCK, LOCK_WAIT_SECONDS)
        lock.__enter__()
        try:
            if (folder / CONVERTING).exists():
                from fabula.record.vault.converting import settle

                settle(folder)
            journal = Journal.open(folder, read_only=False)
            try:
                if journal.meta("erasing") is not None:
                    from fabula.record.vault.erasing import finish_if_needed

                    finish_if_needed(folder, journal)
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
        from fabula.record.vault.erasing import begin_again
        from fabula.record.vault.repairing import rebuild
        from fabula.record.vault.values import RepairReport
        from fabula.storage.locks import FileLock

        with FileLock(folder / LOCK, LOCK_WAIT_SECONDS):
            if (folder / CONVERTING).exists():
                from fabula.record.vault.converting import settle

                settle(folder)
            rebuilt = rebuild(folder)
            begin_again(folder)
        with cls.open(folder, clock) as vault:
            mended, lost = vault.mend()
            vault.commit()
        return RepairReport(rebuilt.packs, rebuilt.records, mended, lost, tuple(rebuilt.problems))

    # -- the ledger ----------------------------------------------------------------------------------------------

    def source(self, host: str, path: str, kind: str, session: str, parent: str = "") -> SourceEntry:
        """Return the ledger's entry for a file; at first sight it is written down.

        ``parent`` is the session that spawned the file's own.
        """
        return self._writer().ledger.source(host, path, kind, session, parent)

    def seen(self, source_id: int, size: int, *, session: str | None = None) -> None:
        """Note that a file is there now, ``size`` bytes long; ``session`` corrects what was known at first sight."""
        self._writer().ledger.seen(source_id, size, session)

    def vanished(self, source_id: int) -> None:
        """Note that a file is gone; its bytes stay. The first time counts."""
        self._writer().ledger.vanished(source_id)

    def sources(self) -> list[SourceEntry]:
        """Return the committed ledger, in order of first sight."""
        return self.journal.sources("order by id")

    def generation_ids(self) -> list[int]:
        """Return the ids of all committed generations that hold something: far cheaper than the whole ledger."""
        found = self.journal.rows("select id from generations where length > 0 or length(tail) > 0")
        return [int(row[0]) for row in found]

    def holdings(self) -> tuple[int, int]:
        """Return how many committed generations hold something, and the sum of their ids: cheaper than to list them."""
        found = self.journal.rows("select count(*), sum(id) from generations where length > 0 or length(tail) > 0")
        return found[0][0], found[0][1] or 0

    # -- sealing -------------------------------------------------------------------------------------------------

    def current(self, source_id: int) -> Generation | None:
        """Return the generation that was begun last, ``None`` before the first; a writer's with uncommitted appends."""
        if self._writing is None:
            generations = self.journal.generations(source_id)
        else:
            generations = self._writing.ledger.entry(source_id).generations
        return generations[-1] if generations else None

    def begin(
        self, source_id: int, *, provenance: Provenance, immutable: bool, number: int | None = None
    ) -> Generation:
        """Begin a new generation of a source: it is seen first, or was rewritten.

        ``number`` defaults to one more than the highest; a number that exists gives that generation back.
        """
        return self._writer().ledger.begin(source_id, provenance, immutable=immutable, number=number)

    @property
    def tombstones(self) -> Tombstones | None:
        """What was forgotten on purpose, so that a writer keeps it out; ``None`` where nothing ever was."""
        return self._writer().tombstones

    def append(
        self,
        generation_id: int,
        offset: int,
        data: bytes,
        spans: Sequence[tuple[int, int]],
        holes: frozenset[int] = frozenset(),
        before: bytes = b"",
    ) -> None:
        """Seal ``data``, which lies at byte ``offset`` of the file; ``spans`` are its records as (file offset, length).

        Bytes sealed already are skipped, so appends may overlap and repeat. Nothing is durable before :meth:`commit`.
        ``holes`` are the file offsets of records and gaps that were forgotten: not their bytes are kept, but where.
        ``before`` are the bytes before ``data`` where the caller has them: they spare a look at what was sealed.
        Raises ``ERR_DISK``; ``ValueError`` when bytes between are missing or a span reaches beyond the data.
        """
        self._writer().append(generation_id, offset, data, spans, holes, before)

    def set_tail(self, generation_id: int, tail: bytes) -> None:
        """Keep the unterminated last line that follows the sealed bytes, until it is completed."""
        self._writer().set_tail(generation_id, tail)

    def commit(self) -> None:
        """Make everything durable: sync the packs, then write one transaction of the journal. Raises ``ERR_DISK``."""
        self._writer().commit()

    def mend(self) -> tuple[int, int]:
        """Seal lost records again where a source still holds their bytes.

        Returns how many were, and how many stay lost; durable with the next commit.
        """
        from fabula.record.vault.mending import mend

        return mend(self.journal, self._writer().filling)

    def _writer(self) -> Writing:
        if self._writing is None:
            raise FabulaError("ERR_READ_ONLY", f"{self.folder} was opened for reading")
        return self._writing

    # -- reading -------------------------------------------------------------------------------------------------

    def read(self, generation_id: int, offset: int, length: int) -> bytes:
        """Return committed bytes, checked against their digests. Raises ``ERR_NOT_FOUND``, ``ERR_VAULT_DAMAGED``."""
        return self._reading.read(generation_id, offset, length)

    def digest(self, generation_id: int, offset: int, length: int) -> bytes | None:
        """Return the SHA-256 of a record that was sealed as exactly this span, without reading it; else ``None``."""
        return self._reading.digest(generation_id, offset, length)

    def holds(self, digest: bytes) -> bool:
        """Say whether exactly these bytes were sealed as a record, of whatever file."""
        return self.journal.holds(digest)

    def stream(self, generation_id: int, start: int = 0, *, fill: bytes | None = None) -> Iterator[bytes]:
        """Yield a generation's bytes from ``start``, tail included, in pieces of about 1 MB. Raises as :meth:`read`.

        ``fill``, one byte, stands for each byte that was forgotten; without it a hole is ``ERR_FORGOTTEN``.
        """
        return self._reading.stream(generation_id, start, fill)

    def restore(self, generation_id: int, out: Path, *, fill: bytes | None = None) -> int:
        """Write a generation to the file ``out``, byte for byte, atomically; return its size. Raises as `read`."""
        from fabula.record.vault.restoring import restore

        return restore(self._reading.stream(generation_id, 0, fill), out)

    def holes(self, generation_id: int) -> list[tuple[int, int]]:
        """Return the spans (offset, length) of a generation that were forgotten on purpose."""
        return self._reading.holes(generation_id)

    def verify(self) -> Iterator[Damage]:
        """Read everything; yield what is not as it was written, and the files that it hits."""
        from fabula.record.vault.verifying import verify

        return verify(self.folder, self.journal)

    def stats(self) -> VaultStats:
        """Return counts and sizes of what is committed."""
        from fabula.record.vault.statistics import measure

        return measure(self.journal)

    # -- closing -------------------------------------------------------------------------------------------------

    def close(self) -> None:
        """Close the vault; what was not committed is undone."""
        if "_reading" in self.__dict__:
            self._reading.close()
        try:
            if self._writing is not None:
                self._writing.close()
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
