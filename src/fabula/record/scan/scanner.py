"""One scan: find what changed, seal it, map it, commit in bounded batches.

The vault commits before the map, so a crash in between costs a re-read and never a byte: what the map lacks is read
again, and bytes that are sealed already are skipped.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.kernel.errors import FabulaError
from fabula.record.ingest.mapper import Mapper
from fabula.record.ingest.relink import relink
from fabula.record.loader import by_host
from fabula.record.map.files import KnownFile, file_at, insert_file, retire, save_progress, save_stat
from fabula.record.map.forget import forget_file, forget_told_prompts
from fabula.record.map.titles import retitle
from fabula.record.scan.changes import after_digest, is_appendable, is_plain
from fabula.record.scan.order import in_reading_order
from fabula.record.scan.owner import note_owner
from fabula.record.scan.reading import FileReading
from fabula.record.scan.report import Progress, ScanReport, Silent
from fabula.record.scan.sealed import SealedReader, scratch_folder, sealed_only, slimmed_later
from fabula.record.scan.straining import sieve_for
from fabula.record.scan.tails import before, same_bytes, tail_on_disk
from fabula.record.vault.keepsakes import Keepsakes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    import apsw

    from fabula.kernel.clock import Clock
    from fabula.kernel.records import SourceFile
    from fabula.record.ingest.copies import CopyReader
    from fabula.record.scan.finding import Findings, Work
    from fabula.record.scan.sealed import SealedChoice
    from fabula.record.sources import Source
    from fabula.record.vault.values import Generation
    from fabula.record.vault.vault import Vault

BATCH_BYTES = 64 * 1024 * 1024


class Scanner:
    """Reads what changed into vault and map. The caller holds the writer lock.

    ``vault`` is ``None`` only in benchmarks. ``project_of`` names the project of a working directory, ``read_copy``
    reads a mapped copy back, ``sealed_digest`` tells its digest.
    """

    def __init__(
        self,
        *,
        connection: apsw.Connection,
        vault: Vault | None,
        sources: Sequence[Source],
        clock: Clock,
        project_of: Callable[[str], tuple[str, str]],
        read_copy: CopyReader,
        sealed_digest: Callable[[int, int, int], bytes | None],
        progress: Progress | None = None,
    ) -> None:
        self._connection = connection
        self._vault = vault
        self._sources = sources
        self._clock = clock
        self._project_of = project_of
        self._read_copy = read_copy
        self._sealed_digest = sealed_digest
        self._progress = progress or Silent()
        self._batch = 0

    def apply(self, found: Findings, *, byte_budget: int | None = None) -> ScanReport:
        """Take in what a look found; stop after ``byte_budget`` bytes (files left are counted as pending)."""
        report, connection = found.report, self._connection
        connection.execute("begin immediate")
        try:
            mapper = Mapper(connection, self._project_of, self._read_copy, self._sealed_digest)
            self._progress.start(len(found.changed), sum(work.file.size for work in found.changed))
            if found.fresh:
                self._map_sealed(mapper, report, slimmed_later, byte_budget)
            for work in in_reading_order(found.changed):
                if byte_budget is not None and report.bytes_read >= byte_budget:
                    report.pending_files += 1
                    continue
                self._one_file(mapper, work, report, found.scanned_ns)
            self._note_vanished(found.gone, report)
            if not report.pending_files:
                self._map_sealed(mapper, report)
            self._progress.finish()
            mapper.finish()
            self._commit(mapper)
            relink(connection)
            new = any(work.change == "new" for work in found.changed)
            if new:
                forget_told_prompts(connection)
            if found.fresh and self._vault is not None:
                note_owner(connection, self._vault)
            if (new or found.fresh) and self._vault is not None:
                retitle(connection, Keepsakes(self._vault.journal, self._clock).titles("session"))
            report.searchable_characters = mapper.searchable_characters
            _add_to_meta(connection, "searchable_characters", mapper.searchable_characters)
            connection.execute("commit")
        except BaseException:
            if connection.in_transaction:
                connection.execute("rollback")
            raise
        return report

    def _one_file(self, mapper: Mapper, work: Work, report: ScanReport, scanned_ns: int) -> None:
        """Bring one file up to date; what is wrong with it never costs its neighbours."""
        file, known = work.file, work.known
        try:
            if known is not None and work.change in {"check", "grown"}:
                same = self._same_before(file, known)
                work.change = after_digest(work.change, file.size, known, same_tail=same)
            if known is not None and work.change == "unchanged":
                save_stat(self._connection, known, file, scanned_ns)
                report.files_unchanged += 1
                return
            reading = self._open(mapper, work, scanned_ns)
            report.files_read += 1
            self._read(mapper, reading, report)
        except OSError as error:
            report.files_failed += 1
            report.problems.append((file.path, error.strerror or str(error)))
            self._note_failure(mapper, work, error, scanned_ns)
        self._progress.advance(1, 0)

    def _same_before(self, file: SourceFile, known: KnownFile) -> bool:
        """Say whether what was read of a file is still in it: by its last bytes, or by all of a file written whole."""
        if is_appendable(file.path):
            return known.read_to == 0 or tail_on_disk(file.path, known.read_to) == known.tail_digest
        if self._vault is None or known.vault_generation is None:
            return False
        return same_bytes(file.path, self._vault, known.vault_generation)

    def _open(self, mapper: Mapper, work: Work, scanned_ns: int) -> FileReading:
        file, known = work.file, work.known
        container = work.source.container(file)
        session = mapper.names.file_session(file)
        before_generation = known.vault_generation if known is not None else None
        if known is not None and work.change == "rewritten":
            self._set_aside(known)
            known = None
        sealing = self._generation(file, before_generation, goes_on=known is not None)
        if known is None and sealing is not None:
            self._drop_twin(file, sealing)
        known = known or insert_file(self._connection, file, session, scanned_ns)
        known.size, known.mtime_ns, known.ctime_ns, known.inode = file.size, file.mtime_ns, file.ctime_ns, file.inode
        known.scanned_ns, known.error, known.vanished_at = scanned_ns, None, None
        if sealing is not None:
            known.vault_generation = sealing.id
        mapper.start_file(file, known.id, session)
        return FileReading(
            file=file,
            known=known,
            container=container,
            normaliser=work.source.normaliser(file, known.state),
            vault=self._vault,
            sealed_to=sealing.length if sealing else 0,
            before=before(file.path, known.read_to) if known.read_to else b"",
            sieve=sieve_for(self._vault, file.path),
        )

    def _set_aside(self, known: KnownFile) -> None:
        """The file on disk holds other bytes now: what was read before lives on in the vault, or nowhere."""
        if self._vault is None or known.vault_generation is None:
            forget_file(self._connection, known)
            return
        entry = self._vault.source(known.host, known.path, known.kind, "")
        number = next((each.number for each in entry.generations if each.id == known.vault_generation), 0)
        retire(self._connection, known, number)

    def _drop_twin(self, file: SourceFile, generation: Generation) -> None:
        """The file on disk goes on with a generation that was mapped as one that only the vault holds.

        So after a rewriting that was killed between its two commits. The file is read whole now: one row is enough.
        """
        twin = file_at(self._connection, file.path, generation.number)
        if twin is not None and twin.vault_generation == generation.id:
            forget_file(self._connection, twin)

    def _generation(self, file: SourceFile, mapped: int | None, *, goes_on: bool) -> Generation | None:
        """Return the vault's generation that the file's bytes go to; a new one when they continue none.

        ``mapped`` is the generation that the map knew the file by, ``goes_on`` whether the file still continues it.
        """
        if self._vault is None:
            return None
        entry = self._vault.source(file.host, file.path, file.kind, file.session, file.parent_session)
        self._vault.seen(entry.id, file.size, session=file.session)
        current = self._vault.current(entry.id)
        if goes_on:  # not always the newest: a rewriting that was killed leaves one that never stood on disk
            current = next((each for each in entry.generations if each.id == mapped), current)
        if current is not None and (goes_on or (current.id != mapped and _continues(file, current, self._vault))):
            return current
        number = file.generation if file.immutable and file.generation >= 0 else None
        return self._vault.begin(entry.id, provenance=file.provenance, immutable=file.immutable, number=number)

    def _read(self, mapper: Mapper, reading: FileReading, report: ScanReport) -> None:
        mapper.bytes_at = reading.bytes_at
        for size, records in reading.chunks():
            for record in records:
                mapper.add(record)
            report.records_added += len(records)
            report.bytes_read += size
            self._batch += size
            self._progress.advance(0, size)
            if self._batch >= BATCH_BYTES:
                save_progress(self._connection, reading.known)
                self._commit(mapper)
                self._connection.execute("commit")
                self._connection.execute("begin immediate")
        mapper.end_file()
        reading.finish()
        save_progress(self._connection, reading.known)

    def _map_sealed(
        self, mapper: Mapper, report: ScanReport, wanted: SealedChoice | None = None, byte_budget: int | None = None
    ) -> None:
        """The map also knows what only the vault holds: in a map made anew, or sealed and gone before it was mapped.

        Those that are ``wanted``, before the files on disk, unless they go beyond a budget: nobody who searches waits
        for them. Without ``wanted`` all that are left, after the files on disk.
        """
        if self._vault is None:
            return
        missing = sealed_only(self._connection, self._vault)
        if wanted is not None:
            missing = [(entry, generation) for entry, generation in missing if wanted(entry, generation)]
        if not missing or (byte_budget is not None and sum(each.size for _, each in missing) > byte_budget):
            return
        scratch = scratch_folder(self._vault.folder.parent)
        reader = SealedReader(self._connection, self._vault, by_host(self._sources), scratch)
        for entry, generation in missing:
            try:
                for session, reading in reader.open(entry, generation, mapper.names):
                    superseded = wanted is None and generation.id != entry.generations[-1].id
                    mapper.start_file(reading.file, reading.known.id, session, superseded=superseded)
                    report.files_read += 1
                    self._read(mapper, reading, report)
            except (OSError, FabulaError) as error:
                report.files_failed += 1
                report.problems.append((entry.path, str(error)))

    def _commit(self, mapper: Mapper) -> None:
        """Make the batch durable: the vault first, then the map's rows (the caller ends the transaction)."""
        if self._vault is not None:
            self._vault.commit()
        mapper.write()
        self._batch = 0

    # ── files that cannot be read, or are gone ───────────────────────

    def _note_failure(self, mapper: Mapper, work: Work, error: OSError, scanned_ns: int) -> None:
        file = work.file
        known = file_at(self._connection, file.path, file.generation) or insert_file(
            self._connection, file, mapper.names.file_session(file), 0
        )
        known.error = error.strerror or str(error)
        known.mtime_ns = -1  # never equal to a stat: the next scan tries again
        known.scanned_ns = scanned_ns
        save_progress(self._connection, known)

    def _note_vanished(self, gone: Iterable[KnownFile], report: ScanReport) -> None:
        """A vanished source is no delete: what the vault holds stays; only what nobody holds is forgotten."""
        for known in gone:
            if any(_lies_in(known.path, path) for path, _ in report.problems):
                continue  # a folder or a database that could not be looked into says nothing about what is in it
            report.files_vanished += 1
            if known.vault_generation is None:
                forget_file(self._connection, known)
                continue
            known.vanished_at = self._clock.now_ms()
            save_progress(self._connection, known)
            if self._vault is not None:
                entry = self._vault.source(known.host, known.path, known.kind, "")
                self._vault.vanished(entry.id)


def _lies_in(path: str, place: str) -> bool:
    """Whether a file is ``place``, lies below it, or is a session of that database."""
    return path == place or path.startswith((place.rstrip("/") + "/", place + "#"))


def _continues(file: SourceFile, current: Generation, vault: Vault) -> bool:
    """Say whether a file on disk continues a sealed generation that the map knows nothing of (a rebuilt map)."""
    length = current.length
    if not is_plain(file.path) or file.size < length:
        return False
    if not is_appendable(file.path):
        return file.size == length and same_bytes(file.path, vault, current.id)
    return length == 0 or tail_on_disk(file.path, length) == current.tail_digest


def _add_to_meta(connection: apsw.Connection, key: str, amount: int) -> None:
    connection.execute(
        "insert into meta(key,value) values(?,?) on conflict(key) do update set value=value+excluded.value",
        (key, amount),
    )
