"""What is asked of the state plane and what it answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.kernel.values import frozen

if TYPE_CHECKING:
    from fabula.memory.standing.reinforcement import State


@frozen
class Reinforced:
    """A reinforcement of one memory: whether it counted (a reading within the cool-down does not), and its state."""

    path: str
    counted: bool
    state: State


@frozen
class Pack:
    """What was handed out at once: when (ms), by what, to which session, for which question, and which memories."""

    id: str
    at: int
    reader: str
    session: str
    query: str
    paths: tuple[str, ...]


@frozen
class Summary:
    """What the state plane holds. ``unexported`` counts entries that no tracked log has yet."""

    replica: str
    replicas: int
    entries: int
    memories: int
    links: int
    packs: int
    local_bytes: int
    unexported: int


@frozen
class Exported:
    """What an export did. ``commit`` is ``None`` when there was nothing new; ``dropped`` readings added nothing."""

    commit: str | None
    replica: str
    entries: int
    dropped: int
    files: tuple[str, ...]
