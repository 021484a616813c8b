"""Measures of retrieval, by their formulas. A ranking is a list of ids, the best first; gold is the set of right ids.

An id that a ranking repeats counts once, at its first rank. A ranking may be shorter than ``k``. Gold is never empty:
questions without gold are left out, and counted, by the caller.
"""

from __future__ import annotations

import random
import re
from math import log2
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

Key = TypeVar("Key")

_EVIDENCE = re.compile(r"D(\d+):(\d+)")


def distinct(ranking: Sequence[Key], k: int | None = None) -> list[Key]:
    """Return the first ``k`` different ids of a ranking."""
    return list(dict.fromkeys(ranking))[:k]


def hit_at(ranking: Sequence[Key], gold: Collection[Key], k: int) -> float:
    """1 when any gold id is among the first ``k``, else 0."""
    return float(any(key in gold for key in distinct(ranking, k)))


def all_at(ranking: Sequence[Key], gold: Collection[Key], k: int) -> float:
    """1 when every gold id is among the first ``k``, else 0."""
    return float(set(gold) <= set(distinct(ranking, k)))


def recall_at(ranking: Sequence[Key], gold: Collection[Key], k: int) -> float:
    """|gold ∩ first k| / |gold|."""
    return len(set(gold) & set(distinct(ranking, k))) / len(set(gold))


def reciprocal_rank(ranking: Sequence[Key], gold: Collection[Key]) -> float:
    """1 / the rank of the first gold id; 0 when there is none."""
    return next((1 / rank for rank, key in enumerate(distinct(ranking), 1) if key in gold), 0.0)


def ndcg_at(ranking: Sequence[Key], gold: Collection[Key], k: int, *, longmemeval: bool = False) -> float:
    """DCG / ideal DCG with gains of 1: Σ 1 / log2(rank + 1); LongMemEval's own formula does not discount rank 2."""

    def gain(rank: int) -> float:
        return (1.0 if rank == 1 else 1 / log2(rank)) if longmemeval else 1 / log2(rank + 1)

    found = sum(gain(rank) for rank, key in enumerate(distinct(ranking, k), 1) if key in gold)
    return found / sum(gain(rank) for rank in range(1, min(k, len(set(gold))) + 1))


def effective_k(ranking: Sequence[Key], group_of: Callable[[Key], object], groups: int) -> int:
    """Return how many ids must be taken until ``groups`` different groups are seen; all when there are fewer."""
    seen: set[object] = set()
    for taken, key in enumerate(ranking, 1):
        seen.add(group_of(key))
        if len(seen) == groups:
            return taken
    return len(ranking)


def is_abstention(question_id: str) -> bool:
    """Say whether a LongMemEval question has no answer, and so takes no part in retrieval measures."""
    return question_id.endswith("_abs")


def evidence_ids(evidence: Sequence[str]) -> list[tuple[int, int]]:
    """Return every ``D<session>:<turn>`` in LoCoMo's evidence texts, in order; whatever else they hold is ignored."""
    found = (_EVIDENCE.findall(text) for text in evidence)
    return list(dict.fromkeys((int(session), int(turn)) for ids in found for session, turn in ids))


def bootstrap(
    values: Mapping[Key, Sequence[float]], *, rounds: int = 2_000, seed: int = 7, level: float = 0.95
) -> tuple[float, float, float]:
    """Return (mean over all values, low, high): a percentile interval from resampling whole groups.

    Groups (conversations) are drawn with replacement, for values inside one are not independent. For a paired
    comparison pass differences.
    """
    groups = [(sum(group), len(group)) for group in values.values() if group]
    mean = sum(total for total, _ in groups) / sum(number for _, number in groups)
    draw = random.Random(seed)  # noqa: S311  (a reproducible resampling, no secret)
    means = []
    for _ in range(rounds):
        sample = draw.choices(groups, k=len(groups))
        means.append(sum(total for total, _ in sample) / sum(number for _, number in sample))
    means.sort()
    tail = round((1 - level) / 2 * rounds)
    return mean, means[tail], means[rounds - 1 - tail]
