"""The evict gate: nothing is taken out of a file that the vault does not give back byte for byte."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.kernel.errors import FabulaError

if TYPE_CHECKING:
    from fabula.record.rewriting.plan import Plan, Snapshot
    from fabula.record.vault.vault import Vault

_UNREADABLE = frozenset(("ERR_VAULT_DAMAGED", "ERR_NOT_FOUND", "ERR_FORGOTTEN"))


def is_sealed(vault: Vault, generation: int, data: bytes) -> bool:
    """Say whether a generation begins with exactly ``data``. Every record is checked against its digest on the way."""
    position = 0
    try:
        for piece in vault.stream(generation):
            if data[position : position + len(piece)] != piece[: len(data) - position]:
                return False
            position += len(piece)
            if position >= len(data):
                return True
    except FabulaError as error:
        if error.code not in _UNREADABLE:
            raise
        return False
    return position >= len(data)


def require_sealed(vault: Vault, generation: int, snapshot: Snapshot, plan: Plan) -> None:
    """Let a plan pass only when every byte that it changes or drops is sealed in this generation, at its place.

    Records without an id, unreadable bytes and the blanks between count like every other byte. A generation that
    :func:`is_sealed` holds it all; this looks where something else was forgotten or damaged.
    Raises ``ERR_UNSEALED``, which names the first bytes that are not sealed.
    """
    for begin, end, _ in plan.cuts:
        if begin < end and not _holds(vault, generation, begin, snapshot.data[begin:end]):
            raise FabulaError(
                "ERR_UNSEALED",
                f"the bytes {begin} to {end} of {snapshot.path} have no sealed copy; nothing was changed",
                "fabula record verify --repair",
            )


def _holds(vault: Vault, generation: int, offset: int, data: bytes) -> bool:
    try:
        return vault.read(generation, offset, len(data)) == data
    except FabulaError as error:
        if error.code not in _UNREADABLE:
            raise
        return False
