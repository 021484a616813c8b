"""Where a new memory goes: a function of what it is, total and without a look at the disk."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.kernel.values import frozen
from fabula.memory.format.entities import PERSON
from fabula.memory.format.paths import SUFFIX, is_memory_path, normalise
from fabula.memory.format.slugs import numbered, slug

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

INBOX = "areas/inbox"
ARCS = "areas/arcs"
PEOPLE = "resources/people"
#: What stays true whoever works on what, and so goes by its topic.
TIMELESS = frozenset({"semantic", "procedural", "precedent"})


@frozen
class Placed:
    """What decides where a memory goes."""

    type: str
    entities: Sequence[str] = ()
    workspace: str | None = None
    tags: Sequence[str] = ()
    path: str | None = None


def folder_for(memory: Placed) -> str:
    """Return the folder of a new memory, without a slash at its end; the first rule that applies decides."""
    if memory.path is not None and is_memory_path(memory.path):
        return normalise(memory.path).rpartition("/")[0]
    workspace = f"projects/{slug(memory.workspace)}" if memory.workspace else None
    topic = next((tag for tag in memory.tags if tag.strip()), None)
    if memory.type == "arc":
        return ARCS
    if memory.type == "task":
        return f"{workspace or INBOX}/tasks"
    if memory.type == "semantic" and any(entity.startswith(PERSON + ":") for entity in memory.entities):
        return PEOPLE
    if workspace:
        return workspace
    return f"resources/{slug(topic)}" if topic and memory.type in TIMELESS else INBOX


def path_for(memory: Placed, title: str, at: datetime, ordinal: int = 1) -> str:
    """Return the path of a new memory written ``at`` a time (UTC); ``ordinal`` counts on where a name is taken.

    A valid path that was asked for is the answer, whatever the ordinal. What happened on a day carries the day.
    """
    if memory.path is not None and is_memory_path(memory.path):
        return normalise(memory.path)
    day = f"{at:%Y%m%d}-" if memory.type == "episodic" else ""
    return f"{folder_for(memory)}/{day}{numbered(slug(title), ordinal)}{SUFFIX}"


def looks_dated(name: str) -> bool:
    """Whether a file's name begins with a day, as those of episodes do."""
    return len(name) > 8 and name[:8].isascii() and name[:8].isdigit() and name[8] == "-"
