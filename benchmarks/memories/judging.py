"""From what systems found to figures, intervals and verdicts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from fabula.search.measures import bootstrap, hit_at, recall_at, reciprocal_rank

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from memories.questions import Found, Question

MEASURES: dict[str, Callable[[Sequence[str], Collection[str]], float]] = {
    "hit@1": lambda ranking, gold: hit_at(ranking, gold, 1),
    "hit@5": lambda ranking, gold: hit_at(ranking, gold, 5),
    "MRR": reciprocal_rank,
    "recall@10": lambda ranking, gold: recall_at(ranking, gold, 10),
}
#: What LoCoMo's sessions must come to, as in the record's measurement.
GATES = {"hit@1": 0.73, "hit@5": 0.92, "MRR": 0.815}
UNSURE = 0.90  # of the questions that nothing answers
FORMULAS = """hit@k      questions with an answer among the first k; recall@10 |answers in the first 10| / |answers|
MRR        1 / rank of the first answer (0 when it is not among 40), mean over questions
interval   95 %, percentile bootstrap, 2,000 rounds, of differences paired by question: questions drawn, of LoCoMo whole
           conversations"""


@dataclass
class Judged:
    """Values by measure in the order of the questions, with the groups that are resampled together."""

    groups: list[str] = field(default_factory=list)
    values: dict[str, list[float]] = field(default_factory=lambda: {name: [] for name in MEASURES})

    def mean(self, measure: str, chosen: Sequence[int] | None = None) -> float:
        """Return the mean over all, or some, questions."""
        values = self.values[measure] if chosen is None else [self.values[measure][one] for one in chosen]
        return sum(values) / len(values) if values else 0.0

    def against(self, other: Judged, measure: str) -> tuple[float, float, float]:
        """Return the gain over another system, and its interval."""
        pairs: dict[str, list[float]] = {}
        for group, mine, its in zip(self.groups, self.values[measure], other.values[measure], strict=True):
            pairs.setdefault(group, []).append(mine - its)
        return bootstrap(pairs)


def judged(system: Callable[[Question], Found], questions: Sequence[Question]) -> Judged:
    """Ask a system every question."""
    result = Judged()
    for question in questions:
        ranking = system(question).ranking
        result.groups.append(question.group)
        for name, measure in MEASURES.items():
            result.values[name].append(measure(ranking, question.answers))
    return result


def compared(values: Mapping[str, Judged]) -> bool:
    """Print every system's figures and what the fused order gains. Returns whether the asks are met.

    Asked: it leads the other systems on every measure, and no arm lowers it beyond noise (an interval of the gain
    by that arm that lies below 0).
    """
    print(f"{'':18}" + "".join(f"{name:>10}" for name in MEASURES) + "     gain of fused over it (interval)")
    met = True
    fused = values["fused"]
    for name, one in values.items():
        figures = "".join(f"{one.mean(measure):10.3f}" for measure in MEASURES)
        if name == "fused":
            print(f"{name:18}{figures}")
            continue
        gains = {measure: fused.against(one, measure) for measure in MEASURES}
        shown = "  ".join(f"{mean:+.3f} [{low:+.3f}, {high:+.3f}]" for mean, low, high in gains.values())
        verdict = ""
        if name in ("BM25", "memhtml"):
            leads = all(mean > 0 for mean, _, _ in gains.values())
            verdict = "leads on every measure: " + ("met" if leads else "MISSED")
            met &= leads
        elif name.startswith("without"):
            fine = all(high >= 0 for _, _, high in gains.values())
            verdict = "not lowered by it: " + ("met" if fine else "MISSED")
            met &= fine
        print(f"{name:18}{figures}     {shown}   {verdict}")
    return met


def gates(fused: Judged) -> bool:
    """Print the gates of LoCoMo. Returns whether they are met."""
    verdicts = {name: fused.mean(name) >= least for name, least in GATES.items()}
    for name, least in GATES.items():
        print(f"  {name} {fused.mean(name):.3f}, ask >= {least}: {'met' if verdicts[name] else 'MISSED'}")
    return all(verdicts.values())


def stale_first(
    current: Mapping[str, Callable[[Question], Found]],
    archived: Mapping[str, Callable[[Question], Found]],
    questions: Sequence[Question],
) -> bool:
    """Count where what was replaced stands before every answer. Returns whether ours never does that."""
    asked = [one for one in questions if one.stale]
    met = True
    for label, systems in (("in the default scope", current), ("archive included", archived)):
        for name, system in systems.items():
            if name not in ("fused", "memhtml"):
                continue
            rankings = [(one, list(system(one).ranking)) for one in asked]
            first = sum(bool(ranking) and ranking[0] in one.stale for one, ranking in rankings)
            before = sum(_is_before(ranking, one) for one, ranking in rankings)
            verdict = ""
            if name == "fused":
                met &= first == 0 and before == 0
                verdict = "   ask 0, 0: " + ("met" if first == before == 0 else "MISSED")
            figures = f"first {first}, before its answer {before}, of {len(asked)}"
            print(f"  what was replaced, {label}, {name}: {figures}{verdict}")
    return met


def _is_before(ranking: Sequence[str], question: Question) -> bool:
    places = {name: place for place, name in reversed(list(enumerate(ranking)))}
    far = len(ranking)
    stale = min((places[one] for one in question.stale if one in places), default=far)
    return stale < min((places[one] for one in question.answers if one in places), default=far)


def negatives(
    systems: Mapping[str, Callable[[Question], Found]], unanswerable: Sequence[Question], own: Sequence[Question]
) -> bool:
    """Print how often systems are unsure of what nothing answers, and of what they got right: the price."""
    met = True
    for name, system in systems.items():
        sure = [_is_unsure(system(one)) for one in unanswerable]
        price = [
            _is_unsure(found) for one in own if (found := system(one)).ranking[:1] and found.ranking[0] in one.answers
        ]
        share = sum(sure) / len(sure)
        verdict = ""
        if name == "fused":
            met = share >= UNSURE
            verdict = f"   ask >= {UNSURE}: {'met' if met else 'MISSED'}"
        print(
            f"  without an answer, {name}: empty or called weak {share:.3f} of {len(sure)}{verdict}"
            f"   (though the first one was right {sum(price) / len(price):.3f} of {len(price)})"
        )
    return met


def _is_unsure(found: Found) -> bool:
    return found.is_unsure or not found.ranking
