"""What a file below Kimi's ``sessions`` is, told by its path alone. Pure.

Kimi Code: ``PROJECT/SESSION/{state.json, agents/NAME/wire.jsonl}``. kimi-cli before it:
``PROJECT/SESSION/{state.json, wire.jsonl, context*.jsonl, subagents/ID/…}``, and at first ``PROJECT/SESSION.jsonl``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from fabula.hosts.kimi.wire import agent_session
from fabula.kernel.values import frozen

if TYPE_CHECKING:
    from collections.abc import Sequence

Shape = Literal["wire", "cli-wire", "cli-context", "state"]
MAIN = "main"  # the agent that a person talks to
WIRE, STATE = "wire.jsonl", "state.json"


@frozen
class Place:
    """A file's shape, and whose it is; ``kind`` is the word for its file's kind."""

    shape: Shape
    kind: str
    session: str
    parent: str = ""


def place_of(parts: Sequence[str]) -> Place | None:
    """Return what a file is by the parts of its path below ``sessions``; ``None`` for anything else."""
    below = tuple(parts[2:])
    if len(parts) == 2 and parts[1].endswith(".jsonl"):
        return Place("cli-context", "session", parts[1].removesuffix(".jsonl"))
    if not below:
        return None
    session, name = parts[1], below[-1]
    if below == (STATE,):
        return Place("state", "meta", session)
    if len(below) == 3 and below[0] == "agents" and name == WIRE:
        return _owned("wire", session, below[1])
    shape: Shape | None = "cli-wire" if name == WIRE else "cli-context" if _is_context(name) else None
    if shape is None or len(below) not in (1, 3):
        return None
    if len(below) == 1:
        return _owned(shape, session, MAIN)
    return _owned(shape, session, below[1]) if below[0] == "subagents" else None


def _owned(shape: Shape, session: str, agent: str) -> Place:
    if agent == MAIN:
        return Place(shape, "session", session)
    return Place(shape, "subagent", agent_session(session, agent), session)


def _is_context(name: str) -> bool:
    return name.startswith("context") and name.endswith(".jsonl")
