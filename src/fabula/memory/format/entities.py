"""References to things that memories are about: ``type:name``, as in ``service:ledger-db``. Types are open."""

from __future__ import annotations

from typing import NamedTuple

#: The type of a reference that names none.
UNTYPED = "unknown"
PERSON = "person"
#: The types of entities that an article's own markup names: ``<dfn>`` and ``<code data-lang>``.
CONCEPT, LANGUAGE = "concept", "lang"


class Entity(NamedTuple):
    """A thing: its type and its name."""

    type: str
    name: str

    def __str__(self) -> str:
        return f"{self.type}:{self.name}"


def parse_entity(reference: str) -> Entity | None:
    """Split a reference at its first colon; ``None`` where the type or the name is missing."""
    kind, colon, name = reference.partition(":")
    return Entity(kind, name) if colon and kind and name else None


def is_person(reference: str) -> bool:
    """Whether a reference names a person: ``person:ana``, not the bare ``person:``."""
    entity = parse_entity(reference)
    return entity is not None and entity.type == PERSON
