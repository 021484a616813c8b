"""The verb ``record verify``: check every sealed byte, and repair what can be repaired."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.kernel.errors import Exit
from fabula.kernel.values import frozen
from fabula.record.vault.vault import Vault

if TYPE_CHECKING:
    from fabula.app.wiring import App
    from fabula.record.vault.values import Damage, RepairReport, VaultStats


@frozen
class VerifyRequest:
    """``repair``: first make a new journal from the packs, and seal lost records again from sources that have them."""

    repair: bool = False


@frozen
class VerifyResult:
    """What was checked, and every damage with the files that it hits."""

    vault: str
    sound: bool
    checked: VaultStats
    damages: list[Damage]
    repaired: RepairReport | None

    @property
    def exit_status(self) -> Exit:
        """A damaged vault is no success."""
        return Exit.DONE if self.sound else Exit.COULD_NOT


def verify(app: App, request: VerifyRequest) -> VerifyResult:
    """Verify the vault.

    Raises ``ERR_NO_RECORD``, ``ERR_DATABASE``, ``ERR_VAULT_FORMAT``; repairing also ``ERR_LOCKED``, ``ERR_READ_ONLY``,
    ``ERR_DISK``.
    """
    folder = app.home.vault
    repaired = Vault.repair(folder, app.clock) if request.repair else None
    if repaired is not None:
        app.record.scan()  # what the journal lost of files that are still there is sealed again
    with Vault.open(folder, app.clock, read_only=True) as vault:
        damages = list(vault.verify())
        return VerifyResult(str(folder), not damages, vault.stats(), damages, repaired)
