"""How the arms' scores become one order. Pure; every weight is a named constant.

Chosen on LoCoMo and on generated coding transcripts with known items; each lies on a plateau, not on a peak (see
docs/internals/search.md).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from fabula.kernel.values import frozen
from fabula.search.fusion import scaled, weighted_sum

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fabula.record.search.arms import PassageHit

#: Weights of the arms of a thread; BM25 of its prose has 1.
BEST_PASSAGE = 0.5
COVERAGE = 1.5
TITLE = 0.3
#: The part of the score that thread vectors take over where no thread holds much of the query. They are asked below a
#: best coverage of ``UNCOVERED`` and have all of their part ``FADING`` below that; the closest thread must be closer
#: than ``NEAR``, and has all of its say ``NEARING`` above that: where nothing begins like the query they are silent.
MEANING = 0.95
UNCOVERED, FADING = 0.75, 0.15
NEAR, NEARING = 0.6, 0.2

#: Weights of the arms of a passage or record; its own BM25 has 1.
WINDOW = 1.0
FAR = 0.5  # of a passage two away, inside the window
THREAD = 1.5

PARTS_SHARE = 0.6  # what the parts of a name count in coverage, against the name itself
BY_PROGRAM = 0.7  # factor of threads in sessions that a program started

#: Below this coverage the best match is called weak: calibrated on questions asked of the wrong conversations, of
#: which at least nine in ten must be called weak.
WEAK = 0.57
#: Below this one nothing is returned: what matched is a common word or two out of many.
NOTHING = 0.2


@frozen
class ArmScore:
    """One arm's part in a score: as the arm gave it, on the common scale, and its weight."""

    raw: float
    scaled: float
    weight: float


#: An arm by name: its weight, its scores as given, and on the common scale.
Arm: TypeAlias = "tuple[str, float, Mapping[int, float], Mapping[int, float]]"


@frozen
class Ranked:
    """One thread or passage with its score (0 to 1 when every arm is at its best) and the arms it came from."""

    id: int
    score: float
    coverage: float
    arms: Sequence[Arm] = ()

    def explained(self) -> dict[str, ArmScore]:
        """Return what each arm that knows it gave, by the arm's name."""
        return {
            name: ArmScore(raw[self.id], values[self.id], weight)
            for name, weight, raw, values in self.arms
            if self.id in values
        }


@frozen
class ThreadFacts:
    """What decides between threads besides words."""

    last_time: int
    by_program: bool = False


def rank_threads(
    prose: Mapping[int, float],
    passages: Mapping[int, float],
    coverage: Mapping[int, float],
    titles: Mapping[int, float],
    meaning: Mapping[int, float],
    facts: Mapping[int, ThreadFacts],
    *,
    best_coverage: float,
) -> list[Ranked]:
    """Order threads: Σ weight × scaled score, newest first between equals, then the smaller id.

    ``coverage`` and ``titles`` are shares (0 to 1) and are not scaled; the other arms are, over all that they found.
    Meaning weighs the more, the less of the query any one thread holds (``best_coverage``).
    """
    part = meaning_part(best_coverage, max(meaning.values(), default=0.0))
    lexical = (1.0 - part) / (1.0 + BEST_PASSAGE + COVERAGE + TITLE)
    arms: list[Arm] = [
        ("prose", lexical, prose, scaled(prose)),
        ("passage", lexical * BEST_PASSAGE, passages, scaled(passages)),
        ("coverage", lexical * COVERAGE, coverage, coverage),
        ("title", lexical * TITLE, titles, titles),
        ("meaning", part, meaning, scaled(meaning)),
    ]
    total = weighted_sum((weight, values) for _, weight, _, values in arms)
    order: list[tuple[float, int, int]] = []
    for thread, score in total.items():
        fact = facts.get(thread)
        if fact is not None:
            order.append((-score * BY_PROGRAM if fact.by_program else -score, -fact.last_time, thread))
    order.sort()
    return [Ranked(thread, -score, coverage.get(thread, 0.0), arms) for score, _, thread in order]


def meaning_part(best_coverage: float, closest: float) -> float:
    """Return the part of the score (0 to 1) that vectors decide: see :data:`MEANING`."""
    needed = min(1.0, max(0.0, UNCOVERED - best_coverage) / FADING)
    certain = min(1.0, max(0.0, closest - NEAR) / NEARING)
    return MEANING * needed * certain


def best_passages(hits: Sequence[PassageHit]) -> dict[int, float]:
    """Return the best passage score of each thread."""
    best: dict[int, float] = {}
    for hit in hits:
        if hit.score > best.get(hit.thread, float("-inf")):
            best[hit.thread] = hit.score
    return best


def rank_passages(hits: Sequence[PassageHit], threads: Mapping[int, float]) -> list[Ranked]:
    """Order passages by themselves, their window and their thread.

    Passages with neighbouring ids in one thread follow each other; one that matched nothing itself scores 0 and may
    stand in the window of others. ``threads`` are scores of threads.
    """
    own = {hit.id: hit.score for hit in hits}
    thread_of = {hit.id: hit.thread for hit in hits}
    window = {}
    for passage, score in own.items():
        thread = thread_of[passage]
        near = (own[other] for other in (passage - 1, passage + 1) if thread_of.get(other) == thread)
        far = (own[other] for other in (passage - 2, passage + 2) if thread_of.get(other) == thread)
        window[passage] = score + sum(near) + FAR * sum(far)
    prior = scaled({thread: threads.get(thread, 0.0) for thread in set(thread_of.values())})
    by_thread = {passage: prior[thread] for passage, thread in thread_of.items()}
    arms: list[Arm] = [
        ("passage", 1.0, own, scaled(own)),
        ("window", WINDOW, window, scaled(window)),
        ("thread", THREAD, by_thread, by_thread),
    ]
    total = weighted_sum((weight, values) for _, weight, _, values in arms)
    most = 1.0 + WINDOW + THREAD
    order = sorted(total, key=lambda passage: (-total[passage], passage))
    return [Ranked(passage, total[passage] / most, 0.0, arms) for passage in order]
