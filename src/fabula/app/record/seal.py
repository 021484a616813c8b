"""Use case: seal every byte of every source in the vault, without indexing it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.app.record.scan import Problem, generation_folders
from fabula.kernel.values import frozen

if TYPE_CHECKING:
    from pathlib import Path

    from fabula.app.wiring import App
    from fabula.record.scan.report import Progress
    from fabula.record.vault.values import VaultStats


@frozen
class SealRequest:
    """``vault`` are folders of sealed generations to read as well."""

    vault: tuple[Path, ...] = ()
    progress: Progress | None = None


@frozen
class SealResult:
    """What was sealed, and what the vault holds now."""

    files_seen: int
    files_sealed: int
    files_unchanged: int
    files_failed: int
    bytes_sealed: int
    vault: VaultStats
    problems: list[Problem]


def seal(app: App, request: SealRequest) -> SealResult:
    """Seal what is new. Raises ``ERR_PATH``, ``ERR_LOCKED``, ``ERR_DISK``, ``ERR_READ_ONLY``, ``ERR_VAULT_FORMAT``."""
    report, stats = app.record.seal(extra=generation_folders(request.vault), progress=request.progress)
    return SealResult(
        report.files_seen,
        report.files_sealed,
        report.files_unchanged,
        report.files_failed,
        report.bytes_sealed,
        stats,
        [Problem(path, reason) for path, reason in report.problems],
    )
