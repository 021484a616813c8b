"""Use case: make the map anew from vault and sources. The vault is untouched."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.kernel.values import frozen
from fabula.record.usage.counts import totals

if TYPE_CHECKING:
    from fabula.app.wiring import App
    from fabula.record.scan.report import Progress


@frozen
class RebuildRequest:
    """``progress`` is told how the work goes on."""

    progress: Progress | None = None


@frozen
class RebuildResult:
    """What the new map holds."""

    files: int
    records: int
    threads: int
    sessions: int


def rebuild(app: App, request: RebuildRequest) -> RebuildResult:
    """Rebuild the map. Raises ``ERR_LOCKED``, ``ERR_DISK``, ``ERR_READ_ONLY``, ``ERR_VAULT_DAMAGED``."""
    app.record.scan(rebuild=True, progress=request.progress)
    sessions, threads, records, files = totals(app.reader())
    return RebuildResult(files, records, threads, sessions)
