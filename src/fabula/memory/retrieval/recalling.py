"""The disclosure fold: which of what was found is quoted within a budget, and what is named in one line. Pure.

What is folded away in a memory (details, asides) is never quoted; ``has_details`` of each hit says that it is there.
Names and ids are counted too: what is handed out stays within the budget.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from fabula.memory.retrieval.values import Disclosed, Quoted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fabula.memory.retrieval.values import Hit

QUOTES_EACH: Final = 2  # of one entity: five memories of one person are one voice
ARC: Final = "arc"
ARCS_SHARE: Final = 0.36  # of a budget, at most: 9,000 of 25,000 characters, as the format's own tools have it
ANSWERS: Final = 0.8  # of the question's weight, in one memory
HALF: Final = 0.5
NEAR: Final = 0.5  # cosine, from which a vector alone finds a memory
AROUND: Final = 2  # characters between the parts of a line, and at its end


def fold(hits: Sequence[Hit], texts: Mapping[int, str], budget: int) -> Disclosed:
    """Quote in the order given as long as ``budget`` (characters) holds and no entity was quoted twice already.

    What is not quoted becomes a line, as long as the line fits. What is too long does not stop shorter ones behind it.
    """
    quoted: list[Quoted] = []
    lines: list[Hit] = []
    voices: dict[str, int] = {}
    spent = left = 0
    for hit in hits:
        text = texts.get(hit.id) or hit.claim
        entities = dict.fromkeys(one.casefold() for one in hit.entities)
        cost = heading_cost(hit) + len(text) + 1
        if spent + cost <= budget and all(voices.get(one, 0) < QUOTES_EACH for one in entities):
            quoted.append(Quoted(hit, text))
            spent += cost
            for one in entities:
                voices[one] = voices.get(one, 0) + 1
        elif spent + heading_cost(hit) <= budget:
            lines.append(hit)
            spent += heading_cost(hit)
        else:
            left += 1
    return Disclosed(tuple(quoted), tuple(lines), left, spent)


def heading_cost(hit: Hit) -> int:
    """Return the characters of the line that names a memory: its path and its title."""
    return len(hit.path) + len(hit.title) + AROUND


def bearing(hits: Sequence[Hit]) -> list[Hit]:
    """Return those that bear on the question.

    Where a memory says nearly all of it (``ANSWERS``), one that says less than ``HALF`` as much, and is not near in
    meaning either, shares a common word with it: an agent's context is no place for that. Where none does, the
    answer may be spread over several, and all are kept.
    """
    best = max((hit.coverage for hit in hits), default=0.0)
    if best < ANSWERS:
        return list(hits)
    return [hit for hit in hits if hit.coverage >= best * HALF or _cosine(hit) >= NEAR]


def _cosine(hit: Hit) -> float:
    arm = hit.arms.get("vector")
    return arm.raw if arm is not None else 0.0


def apart(hits: Sequence[Hit]) -> tuple[list[Hit], list[Hit]]:
    """Return patterns across memories, and the memories themselves."""
    return [hit for hit in hits if hit.type == ARC], [hit for hit in hits if hit.type != ARC]


def disclosed(hits: Sequence[Hit], texts: Mapping[int, str], budget: int) -> tuple[Disclosed, Disclosed]:
    """Return arcs and memories folded into one budget: arcs have a share of it, memories all that is left."""
    arcs, memories = apart(bearing(hits))
    first = fold(arcs, texts, int(budget * ARCS_SHARE) if memories else budget)
    return first, fold(memories, texts, budget - first.spent)
