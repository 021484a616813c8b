"""Relations between memories: what people and agents wrote, and what a machine guessed. They are two types.

An *authored* edge stands in a file as a ``<link>`` and is truth. A *derived* edge is a guess of sleep that lives in the
index alone. A function that may lower a memory's standing takes authored edges only, and a type checker proves it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

from fabula.kernel.values import frozen
from fabula.memory.format.vocabulary import RELATIONS

if TYPE_CHECKING:
    from collections.abc import Iterable

EdgeClass = Literal["memory", "person", "provenance", "task"]

#: What relates both ends alike: a walk reads them in either direction as the same.
SYMMETRIC: Final = frozenset(("contradicts", "relates_to", "laterally_related"))
#: relation -> what its source and its target are to each other, for people.
DIRECTIONS: Final = {
    "supersedes": ("new", "old"),
    "contradicts": ("claim", "claim"),
    "caused_by": ("effect", "cause"),
    "leads_to": ("cause", "effect"),
    "part_of": ("member", "whole"),
    "relates_to": ("memory", "memory"),
    "example_of": ("instance", "rule"),
    "supports": ("evidence", "claim"),
    "laterally_related": ("memory", "memory"),
    "about_person": ("memory", "person"),
    "authored_by": ("memory", "person"),
    "from_session": ("memory", "session"),
    "blocks": ("blocker", "blocked"),
    "subtask_of": ("child", "parent"),
}


@frozen
class AuthoredEdge:
    """Written in the file ``source``. ``at``: when that file was written (ms), as the file says."""

    source: str
    relation: str
    target: str
    at: int = 0

    @property
    def strength(self) -> float:
        """What is written is meant."""
        return 1.0


@frozen
class DerivedEdge:
    """Guessed by a machine; ``strength`` in [0, 1] is how sure it was."""

    source: str
    relation: str
    target: str
    strength: float


Edge = AuthoredEdge | DerivedEdge


def class_of(relation: str) -> EdgeClass:
    """Return the class that a relation belongs to. Raises ``KeyError`` for what is no relation."""
    return RELATIONS[relation]  # type: ignore[return-value]


def defect_of(edge: Edge) -> str | None:
    """Return why an edge cannot exist; ``None``: it is well-formed.

    Its relation is known, its ends are two, its strength is within [0, 1], and a guess is about memories alone.
    """
    if edge.relation not in RELATIONS:
        return f"{edge.relation!r} is no relation"
    if not edge.source or not edge.target:
        return "an end is missing"
    if edge.source == edge.target:
        return "a memory is not related to itself"
    if isinstance(edge, AuthoredEdge):
        return None
    if class_of(edge.relation) != "memory":
        return f"{edge.relation!r} is written, never guessed"
    return None if 0.0 <= edge.strength <= 1.0 else f"the strength {edge.strength} is not between 0 and 1"


def refusal(relation: str, source_type: str | None, target_type: str | None) -> str | None:
    """Return why a relation must not be written between memories of these types; ``None``: it may.

    A type of ``None`` stands for a file that does not exist. Relations of memories need two that are no tasks, those of
    tasks two tasks; a person's page or a session need not exist yet.
    """
    if relation not in RELATIONS:
        return f"{relation!r} is no relation"
    if source_type is None:
        return "the file that it should be written in does not exist"
    kind = class_of(relation)
    if kind in {"person", "provenance"}:
        return None
    if target_type is None:
        return "the file that it points at does not exist"
    tasks = (source_type == "task") + (target_type == "task")
    if kind == "memory" and tasks:
        return f"{relation!r} relates what is known; tasks are related by 'blocks' and 'subtask_of'"
    if kind == "task" and tasks < 2:
        return f"{relation!r} relates tasks alone"
    return None


def distinct(edges: Iterable[AuthoredEdge]) -> list[AuthoredEdge]:
    """Return well-formed edges once each, in order of source, relation and target; of repeated ones the earliest."""
    found: dict[tuple[str, str, str], AuthoredEdge] = {}
    for edge in edges:
        names = (edge.source, edge.relation, edge.target)
        if defect_of(edge) is None and (names not in found or edge.at < found[names].at):
            found[names] = edge
    return [found[names] for names in sorted(found)]


def joined(authored: Iterable[AuthoredEdge], derived: Iterable[DerivedEdge]) -> list[Edge]:
    """Return both, for readers who only follow edges; a guess of what is written already is left out."""
    written: list[Edge] = list(distinct(authored))
    known = {frozenset((edge.source, edge.target)) for edge in written if class_of(edge.relation) == "memory"}
    guesses = {
        (guess.source, guess.relation, guess.target): guess
        for guess in sorted(derived, key=lambda one: one.strength)  # of repeated ones the surest
        if defect_of(guess) is None and frozenset((guess.source, guess.target)) not in known
    }
    return written + [guesses[names] for names in sorted(guesses)]
