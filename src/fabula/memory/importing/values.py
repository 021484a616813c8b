"""What importers read from elsewhere, and what became of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.kernel.values import field, frozen

if TYPE_CHECKING:
    from fabula.memory.store.values import NewMemory


@frozen
class Candidate:
    """A memory that could be taken over. ``key`` names where it stands; ``links`` lead to keys of other candidates."""

    key: str
    memory: NewMemory
    links: tuple[tuple[str, str], ...] = ()  # (relation, key)


@frozen
class Skipped:
    """Something that is not taken over, and why."""

    key: str
    reason: str


@frozen
class Found:
    """What an importer read."""

    candidates: list[Candidate] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)


@frozen
class Placed:
    """A memory of elsewhere and its path here."""

    key: str
    path: str
    title: str


@frozen
class Account:
    """Every candidate once: taken over, known before (also where it is in the archive by now), or left out.

    ``commit`` is ``None`` where nothing was written: in a preview, or when nothing was new.
    """

    taken: list[Placed]
    known: list[Placed]
    skipped: list[Skipped]
    commit: str | None = None
    notices: tuple[str, ...] = ()
