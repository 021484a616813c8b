"""How the arms' scores become one order. Pure; every weight is a named constant, chosen once (see docs/decisions.md).

Two arms find: words and vectors. Two only weigh what was found: how recently it holds, how it was used.
"""

from __future__ import annotations

from heapq import nsmallest
from typing import TYPE_CHECKING, Final, TypeAlias

from fabula.kernel.values import frozen
from fabula.memory.retrieval.values import ArmPart
from fabula.memory.standing.reinforcement import EMPTY
from fabula.memory.standing.salience import has_salience, salience
from fabula.search.fusion import scaled, weighted_sum

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fabula.memory.standing.reinforcement import State

TEXT: Final = 1.0
VECTOR: Final = 0.8
RECENCY: Final = 0.06
SALIENCE: Final = 0.06
COVERAGE: Final = 1.5  # of the text arm's own score, against BM25's 1

KEPT: Final = 60  # candidates by words; by vectors there are at most as many as are compared
HALF_LIFE_DAYS: Final = 180.0  # of recency
_DAY_MS: Final = 86_400_000.0

#: Where the largest coverage and the largest cosine add up to less than ``SURE``, the best match is called weak; a
#: cosine of ``SURE_BY_MEANING`` is enough by itself, and without vectors coverage must reach ``SURE_BY_WORDS``. So nine
#: in ten questions that nothing answers are called weak, of conversations (LoCoMo, on which the sum was chosen) as of
#: short memories. Coverage alone does not tell: a long memory holds half of any question's words.
SURE, SURE_BY_WORDS, SURE_BY_MEANING = 1.14, 0.6, 0.8
#: Below ``NOTHING`` of coverage and ``FAR`` of cosine nothing is returned: what matched is a common word or two out of
#: many. A vector alone finds from ``FAR`` on.
NOTHING, FAR = 0.2, 0.5

Arm: TypeAlias = "tuple[str, float, Mapping[int, float], Mapping[int, float]]"


@frozen
class Facts:
    """What decides between memories besides what they say."""

    path: str
    type: str
    when: int
    updated: int
    fact: str = ""  # equal facts have equal ones
    claim: str = ""


@frozen
class Ranked:
    """A memory with its score (1 where every arm is at its best)."""

    id: int
    score: float


def is_weak(coverage: float, cosine: float | None) -> bool:
    """Say whether the best that was found may well be beside the point; ``cosine`` is ``None`` without vectors."""
    if cosine is None:
        return coverage < SURE_BY_WORDS
    return coverage + cosine < SURE and cosine < SURE_BY_MEANING


def text_scores(scores: Mapping[int, float], coverage: Mapping[int, float]) -> dict[int, float]:
    """Return what words say of the best candidates, 0 to 1: ``(BM25 scaled + 1.5 · coverage) / 2.5``."""
    bm25 = scaled(scores)
    known, whole = bm25.get, 1.0 + COVERAGE
    best = nsmallest(KEPT, [((known(one, 0.0) + COVERAGE * share) / -whole, one) for one, share in coverage.items()])
    return {one: -score for score, one in best}


def recency(when: int, now: int) -> float:
    """Return ``2^(-age / 180 days)``; 1 for what only begins to hold."""
    return float(2.0 ** -(max(0, now - when) / _DAY_MS / HALF_LIFE_DAYS))


def standing_out(facts: Facts, state: State, now: int) -> float:
    """Return salience between 0 and 1: ``s / (1 + s)``, and ``None`` said as 0 for what takes no part."""
    if not has_salience(facts.type, facts.path):
        return 0.0
    used = state.last_access if state.last_access is not None else facts.updated
    value = salience(state.accesses, state.outcome, used, now)
    return value / (1.0 + value)


def arms_of(
    text: Mapping[int, float],
    bm25: Mapping[int, float],
    vectors: Mapping[int, float],
    facts: Mapping[int, Facts],
    states: Mapping[str, State] | None,
    now: int,
) -> list[Arm]:
    """Return the arms that have a say: name, weight, scores as given, scores between 0 and 1."""
    arms: list[Arm] = []
    if text:
        arms.append(("text", TEXT, bm25, text))
    if vectors:
        arms.append(("vector", VECTOR, vectors, {one: max(0.0, value) for one, value in vectors.items()}))
    times = {one: recency(fact.when, now) for one, fact in facts.items()}
    arms.append(("recency", RECENCY, {one: float(fact.when) for one, fact in facts.items()}, times))
    if states is not None:
        used = {one: standing_out(fact, states.get(fact.path, EMPTY), now) for one, fact in facts.items()}
        arms.append(("salience", SALIENCE, used, used))
    return arms


def rank(arms: list[Arm], facts: Mapping[int, Facts]) -> list[Ranked]:
    """Order candidates by ``Σ weight · score / Σ weight``; of equals the one that holds more recently, then by path."""
    whole = sum(weight for _, weight, _, _ in arms) or 1.0
    total = weighted_sum((weight / whole, values) for _, weight, _, values in arms)
    order = sorted(facts, key=lambda one: (-total.get(one, 0.0), -facts[one].when, facts[one].path))
    return [Ranked(one, total.get(one, 0.0)) for one in order]


def explained(arms: list[Arm], found: list[int]) -> dict[int, dict[str, ArmPart]]:
    """Return for each memory what each arm that knows it gave."""
    parts: dict[int, dict[str, ArmPart]] = {one: {} for one in found}
    for name, weight, raw, values in arms:
        order = sorted((-value, one) for one, value in values.items())
        places = {one: place for place, (_, one) in enumerate(order, 1)}
        for one in found:
            if one in values:
                parts[one][name] = ArmPart(places[one], raw.get(one, 0.0), values[one], weight)
    return parts
