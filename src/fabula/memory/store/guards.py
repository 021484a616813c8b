"""Which relations may be written between which memories, seen at HEAD: the classes of edges never mix."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.kernel.errors import FabulaError
from fabula.memory.format.paths import normalise
from fabula.memory.links.edges import class_of, refusal
from fabula.memory.store.base import no_memory

if TYPE_CHECKING:
    from fabula.memory.store.base import Base
    from fabula.memory.store.values import NewMemory


def require_edge(base: Base, source: str, source_type: str, relation: str, target: str) -> None:
    """Raise where a relation must not be written.

    ``ERR_USAGE`` for a memory related to itself, or for ends of another class; ``ERR_NO_MEMORY`` where the target must
    be there and is not, ``ERR_DIRTY`` where it is not committed yet.
    """
    target = normalise(target)
    if target == source:
        raise FabulaError("ERR_USAGE", f"{source}: a memory is not related to itself", "name another memory")
    target_type = type_at(base, target) if class_of(relation) in {"memory", "task"} else None
    why = refusal(relation, source_type, target_type)
    if why is None:
        return
    if target_type is None:
        raise base.missing(target) if base.file(target) is None else no_memory(target)
    raise FabulaError("ERR_USAGE", why, f"use a relation that fits a {source_type} and a {target_type}")


def require_ends(base: Base, new: NewMemory) -> None:
    """Raise as :func:`require_edge` for any relation of a new memory."""
    for relation, target in new.links:
        require_edge(base, "", new.type, relation, target)


def type_at(base: Base, path: str) -> str | None:
    """Return the type of the memory at a path, ``None`` where there is none."""
    held = base.file(path)
    return held.reading.head.type if held is not None and held.reading.is_memory else None
