"""How much a memory deserves to stay: eight signals, weighed by its type. Pure.

Only what people and agents wrote is weighed: the counts of edges that these functions take are of authored edges (see
``links.evidence``), so no machine's guess lowers a memory's standing.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from math import exp, log
from typing import TYPE_CHECKING, Literal

from fabula.kernel.values import frozen
from fabula.memory.standing import constants
from fabula.memory.standing.numbers import clamp, compensated_sum
from fabula.memory.standing.types import SIGNAL_NAMES, rule_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Band = Literal["keep", "compress", "evict"]


@frozen
class Signals:
    """What is known of a memory's worth, each in [0, 1]; in the order of ``types.SIGNAL_NAMES``."""

    recency: float
    access_frequency: float
    confidence: float
    pagerank: float
    bridge_importance: float
    reinforcement: float
    content_density: float
    uncontested: float


def recency(age_days: float, half_life: float | None) -> float:
    """``exp(-ln 2 · age / half-life)``; 1 for what never ages or lies ahead.

    ``age_days`` counts from when the content changed: nothing else may make a memory young.
    """
    return 1.0 if half_life is None or age_days <= 0 else exp(-log(2) * age_days / half_life)


def access_frequency(accesses: int) -> float:
    """``min(1, accesses / 10)``."""
    return clamp(accesses / constants.ACCESSES_FULL)


def pagerank_signal(ranks: Mapping[str, float], path: str, edges: int) -> float:
    """Return the share of nodes whose rank is lower, those of equal rank counted half: the percentile of a rank.

    memhtml divides by the largest rank, so that one hub takes everyone else's standing. With fewer than ten edges
    the graph says nothing: 0.5 for all.
    """
    if edges < constants.GRAPH_EDGES_LEAST or path not in ranks:
        return constants.GRAPH_UNKNOWN
    return percentile(sorted(ranks.values()), ranks[path])


def percentile(ordered: Sequence[float], value: float) -> float:
    """Return which share of ascending values lies below one of them, ties counted half."""
    return (bisect_left(ordered, value) + bisect_right(ordered, value)) / (2 * len(ordered))


def bridge_importance(bridges: int) -> float:
    """``min(1, edges to other communities / 5)``."""
    return clamp(bridges / constants.BRIDGES_FULL)


def reinforcement(supports: int, reinforced: int = 0) -> float:
    """``min(1, (inbound supports + times reinforced) / 5)``; memhtml leaves the counter out."""
    return clamp((supports + reinforced) / constants.SUPPORTS_FULL)


def content_density(words: int) -> float:
    """``words / 20`` below ten words, else ``min(1, words / 100)``, but never less than nine words give.

    memhtml lets ten words count for less (0.1) than nine (0.45).
    """
    few = constants.WORDS_FEW
    if words < few:
        return clamp(words / (2 * few))
    return clamp(max(words / constants.WORDS_FULL, (few - 1) / (2 * few)))


def uncontested(contradictions: int) -> float:
    """``1 - min(1, authored contradictions / 3)``."""
    return 1.0 - clamp(contradictions / constants.CONTRADICTIONS_FULL)


def score(memory_type: str, signals: Signals) -> float:
    """Return ``Σ weight · signal`` over the type's weights, compensated, rounded to four digits; in [0, 1]."""
    weights = rule_of(memory_type).weights
    values = [clamp(getattr(signals, name)) for name in SIGNAL_NAMES]
    total = compensated_sum(weight * value for weight, value in zip(weights, values, strict=True))
    return round(clamp(total), constants.SCORE_DIGITS)


def band(retention: float) -> Band:
    """Above 0.7 keep; above 0.3 compress; else evict: a boundary belongs to the lower band."""
    if retention > constants.KEEP_ABOVE:
        return "keep"
    return "compress" if retention > constants.EVICT_UP_TO else "evict"


@frozen
class EvictionCase:
    """What must be known before a memory is proposed for the archive: times in ms, ``low_nights`` in a row."""

    memory_type: str
    created_at: int
    low_nights: int
    pinned: bool = False
    by_person: bool = False
    about_person: bool = False
    only_one_of_entity: bool = False


def why_not_evict(case: EvictionCase, now: int) -> str | None:
    """Return why a memory must not be evicted unasked, whatever its score; ``None`` when it may be proposed.

    memhtml evicts a short how-to on the night it was written.
    """
    age = (now - case.created_at) / 86_400_000
    reasons = (
        (case.pinned, "it is pinned"),
        (rule_of(case.memory_type).protected or case.about_person, "its kind is evicted only when a person asks"),
        (case.by_person, "a person wrote it"),
        (age < constants.EVICT_AGE_DAYS, f"it is younger than {constants.EVICT_AGE_DAYS} days"),
        (case.only_one_of_entity, "it is the only memory of its entity"),
        (case.low_nights < constants.EVICT_NIGHTS, f"its score was low on fewer than {constants.EVICT_NIGHTS} nights"),
    )
    return next((reason for holds, reason in reasons if holds), None)


def eviction_cap(corpus: int) -> int:
    """Return how many memories one night may evict: five, or one in a hundred where that is more."""
    return max(constants.EVICT_LEAST_CAP, int(corpus * constants.EVICT_CAP_SHARE))
