"""Sealing without mapping: every byte of every source goes to the vault, as quickly as may be.

The map follows with the next scan, which reads those bytes again and seals nothing twice.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.kernel.hashes import digest
from fabula.kernel.values import define, field
from fabula.record.scan.changes import is_appendable, is_plain
from fabula.record.scan.report import Progress, Silent
from fabula.record.scan.straining import holes_of, sieve_for
from fabula.record.scan.tails import same_bytes, tail_on_disk

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from fabula.kernel.records import SourceFile
    from fabula.record.sources import Chunk, Source
    from fabula.record.vault.values import Generation
    from fabula.record.vault.vault import Vault

BATCH_BYTES = 64 * 1024 * 1024


@define
class SealReport:
    """What sealing did."""

    files_seen: int = 0
    files_sealed: int = 0
    files_unchanged: int = 0
    files_failed: int = 0
    bytes_sealed: int = 0
    problems: list[tuple[str, str]] = field(default_factory=list)


def seal_sources(vault: Vault, sources: Sequence[Source], progress: Progress | None = None) -> SealReport:
    """Seal what the vault does not hold yet. The caller holds the writer lock. Raises ``ERR_DISK``."""
    report, told = SealReport(), progress or Silent()
    unsaved = 0
    for source in sources:
        files = list(source.discover())
        report.problems += source.problems()
        told.start(len(files), sum(file.size for file in files))
        for file in files:
            report.files_seen += 1
            try:
                sealed = _seal_file(vault, source, file)
            except OSError as error:
                report.files_failed += 1
                report.problems.append((file.path, error.strerror or str(error)))
                continue
            report.files_unchanged += sealed == 0
            report.files_sealed += sealed > 0
            report.bytes_sealed += sealed
            unsaved += sealed
            if unsaved >= BATCH_BYTES:
                vault.commit()
                unsaved = 0
            told.advance(1, file.size)
        told.finish()
    vault.commit()
    return report


def _seal_file(vault: Vault, source: Source, file: SourceFile) -> int:
    """Bring one file's newest generation up to date; return how many bytes were new."""
    entry = vault.source(file.host, file.path, file.kind, file.session, file.parent_session)
    current = vault.current(entry.id)
    if current is not None and _is_sealed(vault, file, current):
        return 0
    vault.seen(entry.id, file.size, session=file.session)
    container = source.container(file)
    grown = current is not None and _only_grew(file, current)
    chunks: Iterable[Chunk] = container.chunks(current.length if grown and current is not None else 0)
    if not is_plain(file.path):
        chunks = list(chunks)  # rows and compressed lines: whether they changed is seen in what they hold
        if current is not None and _holds(vault, current, chunks):
            return 0
    if current is None or not grown:
        number = file.generation if file.immutable and file.generation >= 0 else None
        current = vault.begin(entry.id, provenance=file.provenance, immutable=file.immutable, number=number)
    sealed = 0
    sieve = sieve_for(vault, file.path)
    normaliser = source.normaliser(file, None) if sieve is not None else None
    for chunk in chunks:
        holes = holes_of(sieve, chunk, normaliser) if sieve is not None and normaliser is not None else frozenset()
        spans = [(found.offset, found.length) for found in chunk.values if found.counts]
        vault.append(current.id, chunk.offset, chunk.data, spans, holes)
        sealed += len(chunk.data)
    tail = container.tail
    vault.set_tail(current.id, tail if sieve is None else sieve.tail(current.length + sealed, tail))
    return sealed


def _is_sealed(vault: Vault, file: SourceFile, current: Generation) -> bool:
    if not is_plain(file.path) or file.size != current.size:
        return False
    return _same_tail(file, current) if is_appendable(file.path) else same_bytes(file.path, vault, current.id)


def _only_grew(file: SourceFile, current: Generation) -> bool:
    return is_appendable(file.path) and file.size >= current.length and _same_tail(file, current)


def _same_tail(file: SourceFile, current: Generation) -> bool:
    return current.length == 0 or tail_on_disk(file.path, current.length) == current.tail_digest


def _holds(vault: Vault, current: Generation, chunks: Sequence[Chunk]) -> bool:
    """Say whether a generation holds exactly what was read."""
    if current.length != sum(len(chunk.data) for chunk in chunks):
        return False
    gone = vault.holes(current.id)
    return all(
        any(start <= found.offset < start + length for start, length in gone)
        or vault.digest(current.id, found.offset, found.length)
        == digest(chunk.data[found.offset - chunk.offset : found.offset - chunk.offset + found.length])
        for chunk in chunks
        for found in chunk.values
        if found.counts
    )
