"""The verb ``memory reinforce``: word of how memories served. It is logged; no file changes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from fabula.app.memory.changing import path_of, require_known
from fabula.kernel.values import frozen

if TYPE_CHECKING:
    from pathlib import Path

    from fabula.app.wiring import App


@frozen
class ReinforceRequest:
    """Which memories, and whether they helped (positive), misled (negative) or were just used (neutral)."""

    paths: tuple[str, ...]
    signal: Literal["positive", "negative", "neutral"] = "neutral"
    session: str = ""
    corpus: Path | None = None


@frozen
class Standing:
    """A memory after the word: ``counted`` is false where it came too soon after the one before."""

    path: str
    counted: bool
    accesses: int
    reinforcements: int
    outcome: float


@frozen
class ReinforceResult:
    """What the word came to. ``logged``: it was kept."""

    signal: str
    memories: tuple[Standing, ...]
    logged: bool
    notices: tuple[str, ...]


def reinforce(app: App, request: ReinforceRequest) -> ReinforceResult:
    """Log word of how memories served; of one that is not there nothing is logged at all.

    Raises ``ERR_NO_MEMORY``, ``ERR_PATH``, ``ERR_AMBIGUOUS``; ``ERR_READ_ONLY``, ``ERR_DISK``, ``ERR_LOCKED`` where it
    cannot be kept.
    """
    access = app.memory_at(request.corpus)
    paths = require_known(access, [path_of(access, path) for path in request.paths])
    found = access.state().reinforce(paths, request.signal, request.session)
    memories = [
        Standing(one.path, one.counted, one.state.accesses, one.state.reinforcements, one.state.outcome)
        for one in found
    ]
    return ReinforceResult(request.signal, tuple(memories), bool(found), access.notices)
