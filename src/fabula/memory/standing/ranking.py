"""Putting rankings together and spreading the result. Pure; ties are broken by name."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING

from fabula.kernel.values import define
from fabula.memory.standing.constants import DISAGREEING_COSINE, DISAGREEING_FACTOR, MMR_LAMBDA, RRF_K
from fabula.memory.standing.duplicates import disagree
from fabula.memory.standing.numbers import cosine

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


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


@define
class _Candidate:
    path: str
    relevance: float
    repeats: float = 0.0  # the largest cosine to one chosen


def diversified(
    candidates: Sequence[tuple[str, float]],
    vectors: Mapping[str, Sequence[float]],
    limit: int,
    balance: float = MMR_LAMBDA,
) -> list[str]:
    """Choose up to ``limit`` candidates (path, relevance), each time the one with the best
    ``λ · relevance - (1 - λ) · max(0, largest cosine to one chosen)``; the earlier candidate wins a tie.

    One without a vector repeats nobody. λ of 1 or more keeps the order.
    """
    if limit <= 0:
        return []
    if balance >= 1 or len(candidates) <= 1:
        return [path for path, _ in candidates[:limit]]
    left = [_Candidate(path, relevance) for path, relevance in candidates]
    chosen: list[str] = []
    while left and len(chosen) < limit:
        best = max(left, key=lambda one: balance * one.relevance - (1 - balance) * one.repeats)  # of equals the first
        left.remove(best)
        chosen.append(best.path)
        for other in left if best.path in vectors else ():
            if other.path in vectors:
                other.repeats = max(other.repeats, cosine(vectors[best.path], vectors[other.path]))
    return chosen


def demoted(
    scores: Mapping[str, float], vectors: Mapping[str, Sequence[float]], texts: Mapping[str, str]
) -> dict[str, float]:
    """Halve the score of whoever says nearly the same (cosine 0.9 or more) as a better one, but for a "not".

    Vectors do not see a negation; two that disagree must not stand side by side as if they agreed. Only the better of
    two decides, and once is enough.
    """
    order = sorted(scores, key=lambda path: (-scores[path], path))
    weighed = dict(scores)
    for place, path in enumerate(order):
        for better in order[:place]:
            if _contradict(better, path, vectors, texts):
                weighed[path] = scores[path] * DISAGREEING_FACTOR
                break
    return weighed


def _contradict(left: str, right: str, vectors: Mapping[str, Sequence[float]], texts: Mapping[str, str]) -> bool:
    if not (left in vectors and right in vectors and left in texts and right in texts):
        return False
    close = cosine(vectors[left], vectors[right]) >= DISAGREEING_COSINE
    return close and disagree(texts[left], texts[right])
