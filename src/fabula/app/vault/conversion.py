"""Converting a whole home: what encrypting and decrypting have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.app.access import SCAN_WAIT_SECONDS
from fabula.kernel.errors import FabulaError
from fabula.kernel.values import frozen

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from fabula.app.wiring import App
    from fabula.record.scan.report import Progress
    from fabula.record.vault.converting import Converted
    from fabula.storage.cipher import Cipher


@frozen
class Size:
    """What a vault holds: packs and their bytes."""

    packs: int
    bytes: int


def settled(app: App) -> dict[str, Any] | None:
    """Return what ``key.json`` says, ``None`` when the record is not encrypted, after a stopped conversion was settled.

    Raises ``ERR_KEY``, ``ERR_LOCKED``, ``ERR_DISK``, ``ERR_READ_ONLY``, ``ERR_DATABASE``.
    """
    from fabula.record.vault.folder import CONVERTING
    from fabula.record.vault.vault import Vault
    from fabula.storage.keyring import read_key_file

    if (app.home.vault / CONVERTING).exists():
        Vault.open(app.home.vault, app.clock).close()
    return read_key_file(app.home.vault)


def size_of(app: App) -> Size:
    """Return how much there is to convert: nothing before the first scan. Raises ``ERR_KEY``, ``ERR_DATABASE``."""
    from fabula.record.vault.folder import JOURNAL
    from fabula.record.vault.vault import Vault

    if not (app.home.vault / JOURNAL).exists():
        return Size(0, 0)
    with Vault.open(app.home.vault, app.clock, read_only=True) as vault:
        row = vault.journal.rows("select count(*), coalesce(sum(length), 0) from packs where length>0")[0]
    return Size(*row)


def convert_home(
    app: App, cipher: Cipher | None, said: Mapping[str, Any], progress: Progress | None
) -> tuple[Converted, list[str]]:
    """Write everything in the home anew, sealed or not; return what that was, and what is not sound then.

    The map goes first and is made anew last: no other form of it outlives the conversion. Raises ``ERR_LOCKED``,
    ``ERR_VAULT_DAMAGED``, ``ERR_READ_ONLY`` (a copy of a vault), ``ERR_DISK``, ``ERR_DATABASE``.
    """
    from fabula.app.holdings import remove_derived
    from fabula.record.vault.converting import convert
    from fabula.record.vault.folder import LOCK
    from fabula.record.vault.vault import LOCK_WAIT_SECONDS, Vault
    from fabula.storage.locks import FileLock

    app.record.require_own_home()
    had_map = app.home.map.exists()
    with FileLock(app.home.lock, SCAN_WAIT_SECONDS):
        with Vault.open(app.home.vault, app.clock) as vault:  # an erasure that was interrupted is finished first
            if vault.journal.meta("erasing") is not None:
                raise FabulaError("ERR_LOCKED", "an erasure is not finished yet", "fabula record scan")
        app.record.close()
        remove_derived(app.home.root)
        with FileLock(app.home.vault / LOCK, LOCK_WAIT_SECONDS):
            converted = convert(app.home.vault, cipher, said, progress)
    if had_map:
        app.record.scan(rebuild=True)
    with Vault.open(app.home.vault, app.clock, read_only=True) as vault:
        return converted, [f"{damage.place}: {damage.problem}" for damage in vault.verify()]
