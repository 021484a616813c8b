"""Use case: remove what the vault holds for nobody."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.app.access import SCAN_WAIT_SECONDS
from fabula.app.consent import require_consent
from fabula.kernel.errors import Exit
from fabula.kernel.values import frozen, replace

if TYPE_CHECKING:
    from fabula.app.wiring import App
    from fabula.record.vault.collecting import Garbage, StrayPack

WORD = "collect"


@frozen
class GcRequest:
    """``apply``: not only a preview."""

    apply: bool = False


@frozen
class GcResult:
    """What may go, or went. ``unnamed`` are records that no file is made of any more: they are lost by it.

    ``freed`` and ``problems`` are known after the deed: bytes less on disk, and what is not sound then.
    """

    applied: bool
    dead: int
    packs: int
    unnamed: int
    unnamed_bytes: int
    strays: list[StrayPack]
    freed: int = 0
    problems: tuple[str, ...] = ()

    @property
    def exit_status(self) -> Exit:
        """A vault that is not sound afterwards is no success."""
        return Exit.COULD_NOT if self.problems else Exit.DONE


def gc(app: App, request: GcRequest) -> GcResult:
    """Preview or do it; then every byte that is left is verified.

    Raises ``ERR_NO_RECORD``, ``ERR_VAULT_DAMAGED``, ``ERR_CONSENT``, ``ERR_LOCKED``, ``ERR_DISK``, ``ERR_READ_ONLY``.
    """
    from fabula.record.vault.collecting import collect, look_for_garbage
    from fabula.record.vault.vault import Vault
    from fabula.storage.locks import FileLock

    folder = app.home.vault
    with Vault.open(folder, app.clock, read_only=True) as vault:
        found = look_for_garbage(folder, vault.journal)
    if not request.apply or found.nothing:
        return _result(found, applied=False)
    agreed = found.unnamed
    if agreed:
        require_consent(_lines(found), WORD, "fabula vault gc --apply")
    with FileLock(app.home.lock, SCAN_WAIT_SECONDS), Vault.open(folder, app.clock, create=False) as vault:
        found = look_for_garbage(folder, vault.journal)
        found.unnamed &= agreed
        before = vault.stats().stored_bytes
        collect(folder, vault.journal, found)
        freed = before - vault.stats().stored_bytes
    with Vault.open(folder, app.clock, read_only=True) as vault:
        problems = tuple(f"{damage.place}: {damage.problem}" for damage in vault.verify())
    return replace(_result(found, applied=True), freed=freed, problems=problems)


def _result(found: Garbage, *, applied: bool) -> GcResult:
    return GcResult(
        applied, found.dead, found.packs, len(found.unnamed), found.unnamed_bytes,
        sorted(found.strays, key=lambda stray: stray.name),
    )  # fmt: skip


def _lines(found: Garbage) -> list[str]:
    return [
        f"{len(found.unnamed):,} records are part of no file that the vault knows, and are nowhere else.",
        "They are lost for good if you go on. After a journal was lost, fabula record scan may find their files first.",
    ]
