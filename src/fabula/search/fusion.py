"""Putting scores of different kinds on one scale and adding them up."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

Key = TypeVar("Key")


def scaled(scores: Mapping[Key, float]) -> dict[Key, float]:
    """Return scores between 0 (the worst) and 1 (the best); all equal are all 1."""
    if not scores:
        return {}
    low, high = min(scores.values()), max(scores.values())
    if high <= low:
        return dict.fromkeys(scores, 1.0)
    span = high - low
    return {key: (score - low) / span for key, score in scores.items()}


def weighted_sum(arms: Iterable[tuple[float, Mapping[Key, float]]]) -> dict[Key, float]:
    """Return Σ weight × score over arms; who is missing from an arm has 0 there."""
    total: dict[Key, float] = {}
    for weight, scores in arms:
        for key, score in scores.items():
            total[key] = total.get(key, 0.0) + weight * score
    return total
