"""Taking a rewriting back: the bytes before it return, with everything that the host appended since."""

from __future__ import annotations

from shlex import quote
from typing import TYPE_CHECKING

from fabula.kernel.errors import FabulaError
from fabula.kernel.values import frozen
from fabula.record.rewriting.gate import is_sealed
from fabula.record.rewriting.links import Link, link_of
from fabula.record.rewriting.plan import replace_head

if TYPE_CHECKING:
    from fabula.record.rewriting.plan import Plan, Snapshot
    from fabula.record.vault.values import SourceEntry
    from fabula.record.vault.vault import Vault

UNDO = "undo"


@frozen
class Undoing:
    """The way back from the newest rewriting that is on disk. ``appended`` bytes came after it and stay."""

    link: Link
    plan: Plan
    appended: int


def plan_undo(vault: Vault, entry: SourceEntry, snapshot: Snapshot) -> Undoing | None:
    """Find the newest rewriting of ours that the file still begins with, and plan the way back.

    ``None`` when the file begins with none. Raises ``ERR_NOT_FOUND`` when bytes from before it were forgotten on
    purpose, ``ERR_VAULT_DAMAGED``.
    """
    for link in rewritings(vault, entry):
        if not _stands(vault, link, snapshot.data):
            continue
        plan = replace_head(snapshot, link.new_end, vault.read(link.base, 0, link.base_end), UNDO)
        return Undoing(link, plan, len(snapshot.data) - link.new_end)
    return None


def rewritings(vault: Vault, entry: SourceEntry) -> list[Link]:
    """Return the rewritings of a file that the vault remembers with what stood there before, the newest first."""
    held = {generation.id for generation in entry.generations}
    found = [link_of(vault.journal, generation) for generation in reversed(entry.generations)]
    return [link for link in found if link is not None and link.kind != UNDO and link.base in held]


def _stands(vault: Vault, link: Link, data: bytes) -> bool:
    """Say whether a file begins with what a rewriting wrote, and not with what stood there before.

    Where a rewriting only took the end away, the old bytes begin with the new ones.
    """
    if not is_sealed(vault, link.generation, data[: link.new_end]) or len(data) < link.new_end:
        return False
    return not _stands_before(vault, link, data)


def _stands_before(vault: Vault, link: Link, data: bytes) -> bool:
    """Say whether a file begins with what stood there before a rewriting."""
    return len(data) >= link.base_end and is_sealed(vault, link.base, data[: link.base_end])


def require_undo(vault: Vault, entry: SourceEntry, snapshot: Snapshot) -> Undoing:
    """Plan the way back as :func:`plan_undo`.

    Raises ``ERR_NOT_FOUND`` where there is nothing to take back (any more), ``ERR_CHANGED`` where the file went another
    way; then its sealed states can be restored beside it.
    """
    found = plan_undo(vault, entry, snapshot)
    if found is not None:
        return found
    links = rewritings(vault, entry)
    if not links:
        raise FabulaError("ERR_NOT_FOUND", f"{entry.path} was never rewritten by Fabula: there is nothing to undo")
    if any(_stands_before(vault, link, snapshot.data) for link in links):
        raise FabulaError("ERR_NOT_FOUND", f"every rewriting of {entry.path} was taken back: there is nothing to undo")
    number = next(each.number for each in entry.generations if each.id == links[0].base)
    raise FabulaError(
        "ERR_CHANGED",
        f"{entry.path} does not begin with what Fabula wrote: another program wrote it anew",
        f"fabula record restore {quote(entry.path)} --generation {number} --output FILE",
    )
