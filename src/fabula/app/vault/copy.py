"""Use case: copy the vault into a folder, as a backup or as the beginning of a second machine."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from fabula.kernel.values import frozen

if TYPE_CHECKING:
    from fabula.app.wiring import App
    from fabula.record.scan.report import Progress
    from fabula.record.vault.copying import CopyReport


@frozen
class CopyRequest:
    """``folder`` is empty, or holds an earlier copy of this vault; it is made where there is none."""

    folder: str
    progress: Progress | None = None


@frozen
class CopyResult:
    """What the copy took, and how it is put to use."""

    vault: str
    copied: CopyReport
    use: list[str]


def copy(app: App, request: CopyRequest) -> CopyResult:
    """Copy the vault. Others may write to it meanwhile.

    Raises ``ERR_NO_RECORD``, ``ERR_NOT_A_COPY``, ``ERR_LOCKED``, ``ERR_VAULT_DAMAGED``, ``ERR_DISK``,
    ``ERR_READ_ONLY``.
    """
    from shlex import quote

    from fabula.record.vault.copy_marker import MARKER
    from fabula.record.vault.copying import copy_vault
    from fabula.record.vault.folder import require_journal
    from fabula.record.vault.vault import Vault

    require_journal(app.home.vault)
    vault = app.vault()
    if vault is not None and vault.journal.meta("erasing") is not None:
        Vault.open(app.home.vault, app.clock).close()  # an erasure that was interrupted is finished first
    report = copy_vault(app.home.vault, app.cwd / request.folder, app.clock, request.progress)
    home = quote(report.folder)
    use = [f"FABULA_HOME={home} fabula record verify", f"rm {quote(os.path.join(report.folder, MARKER))}"]
    return CopyResult(str(app.home.vault), report, use)
