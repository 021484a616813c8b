"""What the memory says about a question: memories quoted, others by their titles, and where each is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.app.joints.recall_pack import Piece
from fabula.app.record.reading import clean
from fabula.kernel.clock import format_time
from fabula.kernel.values import frozen

if TYPE_CHECKING:
    from fabula.app.memory.access import MemoryAccess
    from fabula.memory.retrieval.values import Disclosed, Hit

SURE = 0.95  # a confidence below it is said


@frozen
class FromMemory:
    """Memories as a pack holds them, the best first; ``degraded`` says which arms had no say."""

    pieces: tuple[Piece, ...] = ()
    titles: dict[str, str] | None = None
    weak: bool = True
    degraded: tuple[str, ...] = ()


def memories_for(access: MemoryAccess, query: str, budget: int, *, everything: bool, limit: int | None) -> FromMemory:
    """Find what the memory says within ``budget`` characters. Raises ``ERR_NO_CORPUS``, ``ERR_DATABASE``."""
    from fabula.memory.retrieval.values import Ask, Scope

    access.refreshed()
    scope = Scope(home=None if everything else access.home_workspace())
    ask = Ask(query, access.clock.now_ms(), scope, limit=limit or 10)
    found = access.retriever().recall(ask, budget)
    pieces = [*_pieces(found.memories), *_pieces(found.arcs)]
    hits = [*_hits(found.memories), *_hits(found.arcs)]
    return FromMemory(
        tuple(pieces[:limit]), {hit.path: hit.title for hit in hits}, found.weak or not hits, found.degraded
    )


def _hits(found: Disclosed) -> list[Hit]:
    return [*(one.hit for one in found.quoted), *found.lines]


def _pieces(found: Disclosed) -> list[Piece]:
    quoted = [Piece(one.hit.path, _source(one.hit), clean(one.text).strip()) for one in found.quoted]
    return [*quoted, *(Piece(hit.path, _source(hit), "") for hit in found.lines)]


def _source(hit: Hit) -> str:
    """Return the line that names a memory: path, title, and what a reader must know before relying on it."""
    said = [hit.type, f"holds from {format_time(hit.when)[:10]}"]
    if hit.confidence_now < SURE:
        said.append(f"confidence {hit.confidence_now:.2f}")
    if hit.superseded_by:
        said.append(f"superseded by {hit.superseded_by}")
    if hit.has_details:
        said.append("has details")
    return f"[memory {hit.path}] {clean(hit.title)} ({', '.join(said)})"
