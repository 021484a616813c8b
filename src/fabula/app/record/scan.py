"""Use case: take in what is new, and account for every object of every file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.kernel.errors import FabulaError
from fabula.kernel.values import field, frozen

if TYPE_CHECKING:
    from pathlib import Path

    from fabula.app.wiring import App
    from fabula.record.map.files import KnownFile
    from fabula.record.scan.report import Progress, ScanReport
    from fabula.record.sources import Source


@frozen
class ScanRequest:
    """``vault`` are folders of sealed generations to read as well; ``full`` rebuilds the map from everything."""

    vault: tuple[Path, ...] = ()
    full: bool = False
    no_seal: bool = False
    progress: Progress | None = None


@frozen
class FileAccount:
    """What one file holds: ``objects == indexed + sum(skipped.values())``, and
    ``span_bytes + gap_bytes + unreadable_bytes == size`` (bytes of the file, decompressed where it is compressed).
    """

    path: str
    host: str
    kind: str
    generation: int
    size: int
    objects: int
    indexed: int
    skipped: dict[str, int]
    recovered: int
    unreadable_bytes: int
    span_bytes: int
    gap_bytes: int
    waiting_bytes: int
    error: str = ""


@frozen
class ScanTotals:
    """Sums over all files, and what this scan did."""

    files: int
    objects: int
    indexed: int
    skipped: dict[str, int]
    recovered: int
    unreadable_bytes: int
    bytes: int
    files_read: int
    files_unchanged: int
    files_failed: int
    files_vanished: int
    bytes_read: int
    records_added: int
    searchable_characters: int


@frozen
class Problem:
    """A file or folder that could not be read."""

    path: str
    reason: str


@frozen
class ScanResult:
    """The account of everything known, after the scan."""

    totals: ScanTotals
    files: list[FileAccount]
    problems: list[Problem] = field(default_factory=list)


def scan(app: App, request: ScanRequest) -> ScanResult:
    """Scan every source, sealing first. Raises ``ERR_PATH``, ``ERR_LOCKED``, ``ERR_DISK``, ``ERR_READ_ONLY``."""
    report = app.record.scan(
        extra=generation_folders(request.vault),
        seal=not request.no_seal,
        rebuild=request.full,
        progress=request.progress,
    )
    return _account(app, report)


def generation_folders(folders: tuple[Path, ...]) -> list[Source]:
    """Return the source that reads folders of sealed generations. Raises ``ERR_PATH`` for what is no folder."""
    from fabula.hosts.claude.generations import GenerationFolder

    for folder in folders:
        if not folder.is_dir():
            raise FabulaError("ERR_PATH", f"{folder} is not a folder", "fabula record scan --vault DIR")
    return [GenerationFolder(folders)] if folders else []


def _account(app: App, report: ScanReport) -> ScanResult:
    from fabula.record.map.files import all_files

    known = sorted(all_files(app.reader()), key=lambda file: (file.path, file.generation))
    files = [_file_account(file) for file in known]
    skipped: dict[str, int] = {}
    for file in files:
        for kind, count in file.skipped.items():
            skipped[kind] = skipped.get(kind, 0) + count
    row = app.reader().execute("select value from meta where key='searchable_characters'").fetchone()
    totals = ScanTotals(
        files=len(files),
        objects=sum(file.objects for file in files),
        indexed=sum(file.indexed for file in files),
        skipped=dict(sorted(skipped.items())),
        recovered=sum(file.recovered for file in files),
        unreadable_bytes=sum(file.unreadable_bytes for file in files),
        bytes=sum(file.size for file in files),
        files_read=report.files_read,
        files_unchanged=report.files_unchanged,
        files_failed=report.files_failed,
        files_vanished=report.files_vanished,
        bytes_read=report.bytes_read,
        records_added=report.records_added,
        searchable_characters=int(row[0]) if row else 0,
    )
    return ScanResult(totals, files, [Problem(path, reason) for path, reason in report.problems])


def _file_account(file: KnownFile) -> FileAccount:
    """The unterminated last line is unreadable until its end is written; ``waiting_bytes`` says how long it is."""
    counted = file.accounting
    waiting = file.waiting
    return FileAccount(
        path=file.path,
        host=file.host,
        kind=file.kind,
        generation=file.generation,
        size=file.read_to + waiting,
        objects=counted.objects,
        indexed=counted.indexed,
        skipped=dict(sorted(counted.skipped.items())),
        recovered=counted.recovered,
        unreadable_bytes=counted.unreadable_bytes + waiting,
        span_bytes=counted.span_bytes,
        gap_bytes=counted.gap_bytes,
        waiting_bytes=waiting,
        error=file.error or "",
    )
