"""What a batch says about the same slot ("the owner of ledger-db is"): conflicts to be named, or the last to be kept.

Naming changes nothing. Keeping the last is asked for, and only within one workspace: two projects may each have an
owner of their own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.kernel.values import frozen
from fabula.memory.format.slugs import slug
from fabula.memory.standing.frames import frame_key
from fabula.memory.store.values import Conflict

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


@frozen
class Claim:
    """What an operation claims: its place in the batch, the claim, its slot, and the workspace it speaks of."""

    index: int
    text: str
    key: str | None
    workspace: str | None


def claim_of(index: int, text: str, *, is_task: bool, path: str | None, workspace: str | None) -> Claim:
    """Return what an operation claims; a task fills no slot."""
    where = workspace_of(path) if path is not None else (slug(workspace) if workspace else None)
    return Claim(index, text, None if is_task else frame_key(text), where)


def workspace_of(path: str) -> str | None:
    """Return the workspace that a path lies in, ``None`` for none."""
    parts = path.split("/")
    return parts[1] if len(parts) > 2 and parts[0] == "projects" else None


def conflicts_of(claims: Sequence[Claim], stored: Mapping[str, Sequence[tuple[str, str]]]) -> dict[int, Conflict]:
    """Return, by place, the memory or else the earliest operation that claims something else about the same slot."""
    first: dict[str, Claim] = {}
    found: dict[int, Conflict] = {}
    for claim in claims:
        if claim.key is None:
            continue
        other = next(((path, text) for path, text in stored.get(claim.key, ()) if text != claim.text), None)
        earlier = first.setdefault(claim.key, claim)
        if other is not None:
            found[claim.index] = Conflict(other[0], None, other[1])
        elif earlier is not claim and earlier.text != claim.text:
            found[claim.index] = Conflict(None, earlier.index, earlier.text)
    return found


def last_of_each(claims: Sequence[Claim]) -> tuple[dict[int, int], dict[int, int]]:
    """Return whose content each slot's first operation carries (``first -> last``), and where each other one went
    (``index -> first``).
    """
    firsts: dict[tuple[str | None, str], int] = {}
    carried: dict[int, int] = {}
    merged: dict[int, int] = {}
    for claim in claims:
        if claim.key is None:
            continue
        first = firsts.setdefault((claim.workspace, claim.key), claim.index)
        if first != claim.index:
            carried[first] = claim.index
            merged[claim.index] = first
    return carried, merged


def superseded_by(claim: Claim, path: str, stored: Mapping[str, Sequence[tuple[str, str]]]) -> str | None:
    """Return the stored memory whose slot an operation takes over: the first in its workspace, not itself."""
    holders = stored.get(claim.key or "", ())
    where = workspace_of(path)
    return next((holder for holder, _ in holders if holder != path and workspace_of(holder) == where), None)
