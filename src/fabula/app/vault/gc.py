"""Use case: remove what the vault holds for nobody."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.app.access import SCAN_WAIT_SECONDS
from fabula.app.consent import require_consent
from fabula.app.vault.keeping import going_by, rules_of
from fabula.kernel.errors import Exit
from fabula.kernel.values import frozen, replace

if TYPE_CHECKING:
    from fabula.app.wiring import App
    from fabula.record.vault.collecting import Garbage
    from fabula.record.vault.retention import Going
    from fabula.record.vault.strays import StrayPack

WORD = "collect"


@frozen
class GcRequest:
    """``apply``: not only a preview."""

    apply: bool = False


@frozen
class GcResult:
    """What may go, or went. ``unnamed`` are records that no file is made of any more: they are lost by it.

    ``retired`` are generations that the settings do not keep and that have the last full copy of nothing. ``freed`` and
    ``problems`` are known after the deed: bytes less on disk, and what is not sound then.
    """

    applied: bool
    dead: int
    packs: int
    unnamed: int
    unnamed_bytes: int
    strays: list[StrayPack]
    retired: tuple[Going, ...] = ()
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
    from fabula.record.map.store import remove_map
    from fabula.record.vault.collecting import collect, look_for_garbage
    from fabula.record.vault.retiring import retire
    from fabula.record.vault.vault import Vault
    from fabula.storage.locks import FileLock

    folder = app.home.vault
    with Vault.open(folder, app.clock, read_only=True) as vault:
        found = look_for_garbage(folder, vault.journal)
        going = going_by(rules_of(app.config), vault, app.clock.now_ms())
    if not request.apply or (found.nothing and not going):
        return _result(found, going, applied=False)
    agreed = found.unnamed
    if agreed or going:
        require_consent(_lines(found, going), WORD, "fabula vault gc --apply")
    with FileLock(app.home.lock, SCAN_WAIT_SECONDS), Vault.open(folder, app.clock, create=False) as vault:
        before = vault.stats().stored_bytes
        going = _still(going, going_by(rules_of(app.config), vault, app.clock.now_ms()))
        if going:
            app.record.close()
            remove_map(app.home.map)  # first: a map that knows them must not outlive them
            agreed |= retire(folder, vault.journal, [each.id for each in going])
        found = look_for_garbage(folder, vault.journal)
        found.unnamed &= agreed
        collect(folder, vault.journal, found)
        freed = before - vault.stats().stored_bytes
    if going:
        app.record.scan(rebuild=True)  # the map forgets them
    with Vault.open(folder, app.clock, read_only=True) as vault:
        problems = tuple(f"{damage.place}: {damage.problem}" for damage in vault.verify())
    return replace(_result(found, going, applied=True), freed=freed, problems=problems)


def _still(agreed: tuple[Going, ...], now: tuple[Going, ...]) -> tuple[Going, ...]:
    """Return what was agreed to and may still go: one set alone is sure to leave a full copy of everything."""
    return now if {each.id for each in now} <= {each.id for each in agreed} else ()


def _result(found: Garbage, going: tuple[Going, ...], *, applied: bool) -> GcResult:
    return GcResult(
        applied, found.dead, found.packs, len(found.unnamed), found.unnamed_bytes,
        sorted(found.strays, key=lambda stray: stray.name), going,
    )  # fmt: skip


def _lines(found: Garbage, going: tuple[Going, ...]) -> list[str]:
    retired = [
        f"{len(going):,} superseded generations are not kept by your settings. What is full in them stays elsewhere;",
        "as files they cannot be restored any more, and what a pruner shortened in them goes.",
    ]
    return (retired if going else []) + (_unnamed_lines(found) if found.unnamed else [])


def _unnamed_lines(found: Garbage) -> list[str]:
    return [
        f"{len(found.unnamed):,} records are part of no file that the vault knows, and are nowhere else.",
        "They are lost for good if you go on. After a journal was lost, fabula record scan may find their files first.",
    ]
