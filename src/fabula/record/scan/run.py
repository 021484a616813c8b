"""A whole scan over an open map: sources on disk first, then what only the vault still holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.kernel.collector import collector_paused
from fabula.record.loader import Loader, by_host
from fabula.record.projects import project_of
from fabula.record.scan.finding import find_changes
from fabula.record.scan.scanner import Scanner
from fabula.record.vault.folder import JOURNAL
from fabula.record.vault.journal import Journal
from fabula.storage.database import give_back_free_pages

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import apsw

    from fabula.kernel.clock import Clock
    from fabula.record.scan.finding import Findings
    from fabula.record.scan.report import Progress, ScanReport
    from fabula.record.sources import Source


def _erasing(vault_folder: Path | None) -> bool:
    """Say whether a crash, or a reader in the way, left something to erase: opening the vault finishes it."""
    if vault_folder is None or not (vault_folder / JOURNAL).exists():
        return False
    journal = Journal.open(vault_folder, read_only=True)
    try:
        return journal.meta("erasing") is not None
    finally:
        journal.close()


def run_scan(
    *,
    connection: apsw.Connection,
    vault_folder: Path | None,
    sources: Sequence[Source],
    clock: Clock,
    byte_budget: int | None = None,
    progress: Progress | None = None,
    found: Findings | None = None,
) -> ScanReport:
    """Scan ``sources`` into the vault (``None``: without sealing) and the map. The caller holds the writer lock.

    ``found`` is what a look at the same sources and the same state of the map saw.

    Raises ``ERR_DISK``, ``ERR_READ_ONLY``, ``ERR_VAULT_DAMAGED``, ``ERR_VAULT_FORMAT``.
    """
    found = found or find_changes(connection, sources)
    if found.nothing and not _erasing(vault_folder):
        return found.report
    from fabula.record.vault.vault import Vault

    vault = Vault.open(vault_folder, clock) if vault_folder is not None else None
    loader = Loader(connection, vault, by_host(sources))
    scanner = Scanner(
        connection=connection,
        vault=vault,
        sources=sources,
        clock=clock,
        project_of=project_of,
        read_copy=loader.read_copy,
        sealed_digest=loader.sealed_digest,
        progress=progress,
    )
    try:
        with collector_paused():
            report = scanner.apply(found, byte_budget=byte_budget)
        give_back_free_pages(connection)
        return report
    finally:
        loader.close()
        if vault is not None:
            vault.close()
