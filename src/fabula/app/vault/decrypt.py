"""Use case: write an encrypted record anew so that it needs no key."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.app.consent import require_consent
from fabula.app.vault.conversion import convert_home, settled, size_of
from fabula.kernel.errors import Exit
from fabula.kernel.values import frozen

if TYPE_CHECKING:
    from fabula.app.wiring import App
    from fabula.record.scan.report import Progress

WORD = "decrypt"


@frozen
class DecryptRequest:
    """``apply``: not only a preview."""

    apply: bool = False
    progress: Progress | None = None


@frozen
class DecryptResult:
    """What is to be written anew, or was; ``encrypted`` says how the record was found."""

    applied: bool
    encrypted: bool
    packs: int
    bytes: int
    records: int = 0
    problems: tuple[str, ...] = ()

    @property
    def exit_status(self) -> Exit:
        """A vault that is not sound afterwards is no success."""
        return Exit.COULD_NOT if self.problems else Exit.DONE


def decrypt(app: App, request: DecryptRequest) -> DecryptResult:
    """Preview or do it, with the consent of a person.

    Raises ``ERR_EXTRA_MISSING``, ``ERR_KEY``, ``ERR_CONSENT``, ``ERR_LOCKED``, ``ERR_VAULT_DAMAGED``, ``ERR_DISK``,
    ``ERR_READ_ONLY``.
    """
    said = settled(app)
    size = size_of(app)
    if said is None or not request.apply:
        return DecryptResult(applied=False, encrypted=said is not None, packs=size.packs, bytes=size.bytes)
    lines = [
        f"The record is to be decrypted: {size.packs:,} packs, {size.bytes / 1e6:,.1f} MB, and all databases.",
        "Who reads this disk, or a backup of it, then reads the record.",
    ]
    require_consent(lines, WORD, "fabula vault decrypt --apply")
    converted, problems = convert_home(app, None, said, request.progress)
    return DecryptResult(
        applied=True, encrypted=True, packs=converted.packs, bytes=converted.bytes, records=converted.records,
        problems=tuple(problems),
    )  # fmt: skip
