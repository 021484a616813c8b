"""One scan: find what changed, seal it, map it, commit in bounded batches.

The vault commits before the map, so a crash in between costs a re-read and never a byte: what the map lacks is read
again, and bytes that are sealed already are skipped.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from fabula.kernel.errors import FabulaError
from fabula.record.ingest.mapper import Mapper
from fabula.record.ingest.relink import relink
from fabula.record.loader import by_host
from fabula.record.map.files import KnownFile, all_files, file_at, insert_file, retire, save_progress, save_stat
from fabula.record.map.forget import forget_file
from fabula.record.scan.changes import after_digest, compare, is_appendable, is_plain
from fabula.record.scan.order import in_reading_order
from fabula.record.scan.reading import FileReading
from fabula.record.scan.report import Progress, ScanReport, Silent
from fabula.record.scan.sealed import SealedReader, sealed_only
from fabula.record.scan.tails import before, tail_on_disk

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    import apsw

    from fabula.kernel.clock import Clock
    from fabula.kernel.records import SourceFile
    from fabula.record.ingest.copies import CopyReader
    from fabula.record.scan.changes import Change
    from fabula.record.sources import Source
    from fabula.record.vault.vault import Vault

BATCH_BYTES = 64 * 1024 * 1024


class Scanner:
    """Reads what changed into vault and map. The caller holds the writer lock.

    ``vault`` is ``None`` only in benchmarks. ``project_of`` names the project of a working directory, ``read_copy``
    reads a mapped copy back.
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
        progress: Progress | None = None,
    ) -> None:
        self._connection = connection
        self._vault = vault
        self._sources = sources
        self._clock = clock
        self._project_of = project_of
        self._read_copy = read_copy
        self._progress = progress or Silent()
        self._batch = 0
        self._fresh = False

    def run(self, *, byte_budget: int | None = None) -> ScanReport:
        """Scan every source; stop after ``byte_budget`` bytes (files left are counted as pending)."""
        report = ScanReport()
        known = {(file.path, file.generation): file for file in all_files(self._connection)}
        changed: list[tuple[SourceFile, KnownFile | None, Change, Source]] = []
        seen: set[tuple[str, int]] = set()
        scanned_ns = time.time_ns()
        for source in self._sources:
            for file in source.discover():
                seen.add((file.path, file.generation))
                report.files_seen += 1
                row = known.get((file.path, file.generation))
                change = compare(file, row)
                if change == "unchanged":
                    report.files_unchanged += 1
                else:
                    changed.append((file, row, change, source))
            report.problems += source.problems()
        gone = [row for key, row in known.items() if row.generation < 0 and row.vanished_at is None and key not in seen]
        if changed or gone or not known:
            self._apply(changed, gone, report, scanned_ns, byte_budget)
        return report

    # ── writing ──────────────────────────────────────────────────────

    def _apply(
        self,
        changed: list[tuple[SourceFile, KnownFile | None, Change, Source]],
        gone: list[KnownFile],
        report: ScanReport,
        scanned_ns: int,
        byte_budget: int | None,
    ) -> None:
        connection = self._connection
        self._fresh = not connection.execute("select 1 from files limit 1").fetchone()
        connection.execute("begin immediate")
        try:
            mapper = Mapper(connection, self._project_of, self._read_copy)
            self._progress.start(len(changed), sum(file.size for file, *_ in changed))
            for file, row, change, source in in_reading_order(changed):
                if byte_budget is not None and report.bytes_read >= byte_budget:
                    report.pending_files += 1
                    continue
                self._one_file(mapper, file, row, change, source, report, scanned_ns)
            self._note_vanished(gone, report)
            if self._fresh and not report.pending_files:
                self._map_sealed(mapper, report)
            self._progress.finish()
            self._commit(mapper)
            relink(connection)
            report.searchable_characters = mapper.searchable_characters
            _add_to_meta(connection, "searchable_characters", mapper.searchable_characters)
            connection.execute("commit")
        except BaseException:
            if connection.in_transaction:
                connection.execute("rollback")
            raise

    def _one_file(
        self,
        mapper: Mapper,
        file: SourceFile,
        row: KnownFile | None,
        change: Change,
        source: Source,
        report: ScanReport,
        scanned_ns: int,
    ) -> None:
        """Bring one file up to date; what is wrong with it never costs its neighbours."""
        try:
            if row is not None and change in {"check", "grown"}:
                same = tail_on_disk(file.path, row.read_to) == row.tail_digest
                change = after_digest(change, file.size, row, same_tail=same)
            if row is not None and change == "unchanged":
                save_stat(self._connection, row, file, scanned_ns)
                report.files_unchanged += 1
                return
            reading = self._open(mapper, file, row, change, source, scanned_ns)
            report.files_read += 1
            self._read(mapper, reading, report)
        except OSError as error:
            report.files_failed += 1
            report.problems.append((file.path, error.strerror or str(error)))
            self._note_failure(mapper, file, row, error, scanned_ns)
        self._progress.advance(1, file.size)

    def _open(
        self,
        mapper: Mapper,
        file: SourceFile,
        row: KnownFile | None,
        change: Change,
        source: Source,
        scanned_ns: int,
    ) -> FileReading:
        container = source.container(file)
        session = mapper.names.file_session(file)
        sealing = None
        if self._vault is not None:
            entry = self._vault.source(file.host, file.path, file.kind, file.session, file.parent_session)
            current = self._vault.current(entry.id)
            if current is None or (row is None and not _continues(file, current)) or change == "rewritten":
                if row is not None and change == "rewritten":
                    retire(self._connection, row, current.number if current else 0)
                    row = None
                number = file.generation if file.immutable and file.generation >= 0 else None
                current = self._vault.begin(
                    entry.id, provenance=file.provenance, immutable=file.immutable, number=number
                )
            self._vault.seen(entry.id, file.size, session=file.session)
            sealing = current
        elif row is not None and change == "rewritten":
            forget_file(self._connection, row)
            row = None
        known = row or insert_file(self._connection, file, session, scanned_ns)
        known.size, known.mtime_ns, known.ctime_ns, known.inode = file.size, file.mtime_ns, file.ctime_ns, file.inode
        known.scanned_ns, known.error, known.vanished_at = scanned_ns, None, None
        if sealing is not None:
            known.vault_generation = sealing.id
        mapper.start_file(file, known.id, session)
        return FileReading(
            file=file, known=known, container=container, normaliser=source.normaliser(file, known.state),
            vault=self._vault, sealed_to=sealing.length if sealing else 0,
            before=before(file.path, known.read_to) if known.read_to else b"",
        )  # fmt: skip

    def _read(self, mapper: Mapper, reading: FileReading, report: ScanReport) -> None:
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

    def _map_sealed(self, mapper: Mapper, report: ScanReport) -> None:
        """A map made anew also knows what only the vault holds."""
        if self._vault is None:
            return
        reader = SealedReader(self._connection, self._vault, by_host(self._sources))
        for entry, generation in sealed_only(self._connection, self._vault):
            try:
                for session, reading in reader.open(entry, generation, mapper.names):
                    mapper.start_file(reading.file, reading.known.id, session)
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

    def _note_failure(
        self, mapper: Mapper, file: SourceFile, row: KnownFile | None, error: OSError, scanned_ns: int
    ) -> None:
        known = (
            row
            or file_at(self._connection, file.path, file.generation)
            or insert_file(self._connection, file, mapper.names.file_session(file), 0)
        )
        known.error = error.strerror or str(error)
        known.mtime_ns = -1  # never equal to a stat: the next scan tries again
        known.scanned_ns = scanned_ns
        save_progress(self._connection, known)

    def _note_vanished(self, gone: Iterable[KnownFile], report: ScanReport) -> None:
        """A vanished source is no delete: what the vault holds stays; only what nobody holds is forgotten."""
        for known in gone:
            if any(known.path.startswith(path.rstrip("/") + "/") or known.path == path for path, _ in report.problems):
                continue  # a folder that could not be looked into says nothing about its files
            report.files_vanished += 1
            if known.vault_generation is None:
                forget_file(self._connection, known)
                continue
            known.vanished_at = self._clock.now_ms()
            save_progress(self._connection, known)
            if self._vault is not None:
                entry = self._vault.source(known.host, known.path, known.kind, "")
                self._vault.vanished(entry.id)


def _continues(file: SourceFile, current: object) -> bool:
    """Say whether a file on disk continues a sealed generation that the map knows nothing of (a rebuilt map)."""
    length, tail = int(getattr(current, "length", 0)), getattr(current, "tail_digest", None)
    if not is_plain(file.path) or file.size < length:
        return False
    if not is_appendable(file.path) and file.size != length:
        return False
    return length == 0 or tail_on_disk(file.path, length) == tail


def _add_to_meta(connection: apsw.Connection, key: str, amount: int) -> None:
    connection.execute(
        "insert into meta(key,value) values(?,?) on conflict(key) do update set value=value+excluded.value",
        (key, amount),
    )
