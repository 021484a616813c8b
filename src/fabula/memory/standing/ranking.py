"""Putting rankings together and spreading the result. Pure; ties are broken by name."""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from fabula.kernel.values import define
from fabula.memory.standing.constants import DISAGREEING_COSINE, DISAGREEING_FACTOR, MMR_LAMBDA, RRF_K
from fabula.memory.standing.duplicates import negates
from fabula.memory.standing.numbers import cosine

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

Key = TypeVar("Key", int, str)
#: How alike two things are, 1 at most.
Likeness: TypeAlias = Callable[[Key, Key], float]


def share_of_rank(rank: float, weight: float = 1.0) -> float | None:
    """``weight / (rank + 60)``, ranks from 1; ``None`` (no part in it, not zero) for a weight or rank that is none."""
    if not (isfinite(weight) and isfinite(rank)) or weight <= 0 or rank < 1:
        return None
    return weight / (rank + RRF_K)


def fused(arms: Iterable[tuple[float, Sequence[str]]]) -> list[tuple[str, float]]:
    """Fuse rankings, each with its weight: ``Σ weight / (rank + 60)``, best first, ties by path.

    An arm that names a path twice counts the better place.
    """
    shares: dict[str, list[float]] = {}
    for weight, ranking in arms:
        for rank, path in enumerate(dict.fromkeys(ranking), 1):
            share = share_of_rank(rank, weight)
            if share is not None:
                shares.setdefault(path, []).append(share)
    total = {path: sum(sorted(parts)) for path, parts in shares.items()}  # sorted: arms in any order give the same
    return sorted(total.items(), key=lambda item: (-item[1], item[0]))


def by_vectors(vectors: Mapping[Key, Sequence[float]]) -> Likeness[Key]:
    """Return the likeness of things by their vectors: their cosine; 0 where one has none."""

    def likeness(left: Key, right: Key) -> float:
        return cosine(vectors[left], vectors[right]) if left in vectors and right in vectors else 0.0

    return likeness


@define
class _Candidate:
    key: Any
    relevance: float
    repeats: float = 0.0  # the largest likeness to one chosen


def diversified(
    candidates: Sequence[tuple[Key, float]], likeness: Likeness[Key], limit: int, balance: float = MMR_LAMBDA
) -> list[Key]:
    """Choose up to ``limit`` candidates (key, relevance), each time the one with the best
    ``λ · relevance - (1 - λ) · max(0, largest likeness to one chosen)``; the earlier candidate wins a tie.

    λ of 1 or more keeps the order.
    """
    if limit <= 0:
        return []
    if balance >= 1 or len(candidates) <= 1:
        return [key for key, _ in candidates[:limit]]
    left = [_Candidate(key, relevance) for key, relevance in candidates]
    chosen: list[Key] = []
    while left and len(chosen) < limit:
        best = max(left, key=lambda one: balance * one.relevance - (1 - balance) * one.repeats)  # of equals the first
        left.remove(best)
        chosen.append(best.key)
        for other in left:
            other.repeats = max(other.repeats, likeness(best.key, other.key))
    return chosen


def demoted(scores: Mapping[Key, float], likeness: Likeness[Key], texts: Mapping[Key, str]) -> dict[Key, float]:
    """Halve the score of whoever says nearly the same (likeness 0.9 or more) as a better one, but for a "not".

    Vectors do not see a negation; two that disagree must not stand side by side as if they agreed. Only the better of
    two decides, and once is enough.
    """
    order = [key for key in sorted(scores, key=lambda key: (-scores[key], key)) if key in texts]
    says_no = {key: negates(texts[key]) for key in order}
    weighed = dict(scores)
    for place, key in enumerate(order):
        rivals = (better for better in order[:place] if says_no[better] != says_no[key])
        if any(likeness(better, key) >= DISAGREEING_COSINE for better in rivals):
            weighed[key] = scores[key] * DISAGREEING_FACTOR
    return weighed
