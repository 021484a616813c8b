"""Known-item search: each query was made from one thread; how often does that thread come first?

Threads may share a query text. Whoever asks it then cannot mean one of them more than another, so the ceiling of
recall@k for a text that m threads share is min(k, m) / m; figures are given as a share of the ceiling.
"""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

KINDS = ("title", "keywords", "ident", "paraphrase")


@dataclass(frozen=True, slots=True)
class Question:
    """A query and the thread that it was made from."""

    kind: str
    text: str
    thread: int
    sharers: int  # threads with the same query text

    def ceiling(self, k: int) -> float:
        """The best recall@k that can be expected."""
        return min(k, self.sharers) / self.sharers


def questions(threads: Sequence[dict[str, Any]], kind: str, count: int) -> list[Question]:
    """Return a fixed random sample of the threads' queries of one kind."""
    key = f"q_{kind}"
    shared = Counter(thread[key] for thread in threads)
    chosen = random.Random(kind).sample(range(len(threads)), min(count, len(threads)))
    return [Question(kind, threads[i][key], i, shared[threads[i][key]]) for i in chosen]


@dataclass(slots=True)
class Recall:
    """Recall over the questions asked so far."""

    asked: int = 0
    first: int = 0
    five: int = 0
    ceiling_first: float = 0.0
    ceiling_five: float = 0.0

    def add(self, question: Question, ranked: Sequence[int]) -> None:
        """Count one answer: numbers of threads, best first."""
        self.asked += 1
        self.first += question.thread in ranked[:1]
        self.five += question.thread in ranked[:5]
        self.ceiling_first += question.ceiling(1)
        self.ceiling_five += question.ceiling(5)

    @property
    def share_first(self) -> float:
        """recall@1 as a share of its ceiling."""
        return self.first / self.ceiling_first if self.ceiling_first else 0.0

    @property
    def share_five(self) -> float:
        """recall@5 as a share of its ceiling."""
        return self.five / self.ceiling_five if self.ceiling_five else 0.0


def percentile(values: Sequence[float], share: float) -> float:
    """Return the value below which ``share`` of the values lie (nearest rank)."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else 0.0
