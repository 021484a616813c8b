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
        if begin < end:
            why = _lacking(vault, generation, begin, snapshot.data[begin:end])
            if why is not None:
                raise _unsealed(f"the bytes {begin} to {end} of {snapshot.path}", why)


def _lacking(vault: Vault, generation: int, offset: int, data: bytes) -> str | None:
    """Return the code of why a generation does not give these bytes back, "" for other bytes, ``None`` when it does."""
    try:
        return None if vault.read(generation, offset, len(data)) == data else ""
    except FabulaError as error:
        if error.code not in _UNREADABLE:
            raise
        return error.code


def _unsealed(what: str, why: str) -> FabulaError:
    if why == "ERR_FORGOTTEN":
        return FabulaError(
            "ERR_UNSEALED",
            f"{what} were forgotten on purpose, only the transcript holds them; nothing was changed",
            "leave this session as it is, or delete it with its agent",
        )
    return FabulaError(
        "ERR_UNSEALED", f"{what} have no sealed copy; nothing was changed", "fabula record verify --repair"
    )
