"""What a memory deserves, and what keeps it from being evicted unasked."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabula.kernel.values import names_of, replace
from fabula.memory.format.vocabulary import TYPES
from fabula.memory.standing import retention
from fabula.memory.standing.numbers import compensated_sum
from fabula.memory.standing.retention import EvictionCase, Signals
from fabula.memory.standing.types import RULES, SIGNAL_NAMES, rule_of

signals = st.builds(Signals, *[st.floats(0, 1)] * 8)
DAY = 86_400_000


def test_every_type_has_a_rule_and_its_weights_make_exactly_one() -> None:
    assert set(RULES) == set(TYPES)
    assert names_of(Signals) == SIGNAL_NAMES
    for kind in TYPES:
        assert compensated_sum(rule_of(kind).weights) == 1.0, kind
    assert rule_of("a type of the future").half_life == 30


@given(st.sampled_from(TYPES), signals)
def test_a_score_lies_between_nothing_and_all(kind: str, known: Signals) -> None:
    assert 0.0 <= retention.score(kind, known) <= 1.0


@given(st.sampled_from(TYPES), signals, st.sampled_from(SIGNAL_NAMES), st.floats(0, 1))
def test_a_better_signal_never_lowers_the_score(kind: str, known: Signals, name: str, more: float) -> None:
    better = replace(known, **{name: max(more, getattr(known, name))})
    assert retention.score(kind, better) >= retention.score(kind, known)


@pytest.mark.parametrize("kind", TYPES)
def test_all_full_is_one_and_all_empty_is_nothing(kind: str) -> None:
    assert retention.score(kind, Signals(*[1.0] * 8)) == 1.0
    assert retention.score(kind, Signals(*[0.0] * 8)) == 0.0


@given(st.floats(0, 1))
def test_each_score_is_in_one_band(value: float) -> None:
    expected = "keep" if value > 0.7 else "compress" if value > 0.3 else "evict"
    assert retention.band(value) == expected


def test_a_boundary_belongs_to_the_lower_band() -> None:
    assert (retention.band(0.7), retention.band(0.3)) == ("compress", "evict")


def test_recency_is_half_at_the_half_life_and_never_falls_for_what_does_not_age() -> None:
    assert retention.recency(10, 10) == pytest.approx(0.5)
    assert retention.recency(10_000, None) == 1.0
    assert retention.recency(-5, 10) == 1.0
    assert rule_of("procedural").half_life is rule_of("task").half_life is None


def test_counts_are_full_at_their_points() -> None:
    assert (retention.access_frequency(10), retention.access_frequency(9)) == (1.0, 0.9)
    assert (retention.bridge_importance(5), retention.bridge_importance(4)) == (1.0, 0.8)
    assert (retention.reinforcement(5), retention.reinforcement(2, 3), retention.reinforcement(0, 1)) == (1, 1, 0.2)
    assert (retention.uncontested(0), retention.uncontested(3), retention.uncontested(9)) == (1, 0, 0)
    assert retention.content_density(100) == 1.0


@given(st.integers(0, 400), st.integers(0, 400))
def test_more_words_never_count_for_less(one: int, other: int) -> None:
    low, high = sorted((one, other))
    assert retention.content_density(low) <= retention.content_density(high)
    if low < 10:
        assert retention.content_density(low) < 0.5


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_a_percentile_follows_the_rank_alone(values: list[float]) -> None:
    ordered = sorted(values)
    shares = [retention.percentile(ordered, value) for value in ordered]
    assert shares == sorted(shares)
    assert all(0.0 < share < 1.0 for share in shares)


def test_a_hub_does_not_take_the_standing_of_all_others() -> None:
    ranks = {f"m{at}": 0.01 for at in range(50)} | {"hub": 0.5}
    assert retention.pagerank_signal(ranks, "m7", 50) == pytest.approx(0.49, abs=0.01)
    assert retention.pagerank_signal(ranks, "hub", 50) > 0.98
    assert retention.pagerank_signal(ranks, "m7", 9) == retention.pagerank_signal(ranks, "hub", 9) == 0.5
    assert retention.pagerank_signal(ranks, "unknown", 50) == 0.5


READY = EvictionCase("semantic", created_at=0, low_nights=3)


@dataclass
class Guard:
    change: dict[str, object]
    word: str


@pytest.mark.parametrize(
    "guard",
    [
        Guard({"pinned": True}, "pinned"),
        Guard({"memory_type": "user_preference"}, "person asks"),
        Guard({"memory_type": "arc"}, "person asks"),
        Guard({"about_person": True}, "person asks"),
        Guard({"by_person": True}, "person wrote"),
        Guard({"only_one_of_entity": True}, "only memory"),
        Guard({"low_nights": 2}, "nights"),
    ],
)
def test_each_guard_keeps_a_memory(guard: Guard) -> None:
    assert retention.why_not_evict(READY, 31 * DAY) is None
    reason = retention.why_not_evict(replace(READY, **guard.change), 31 * DAY)
    assert reason is not None
    assert guard.word in reason


@given(st.sampled_from(TYPES), st.integers(0, 30 * DAY - 1), st.integers(0, 100))
def test_nothing_younger_than_thirty_days_is_ever_evicted(kind: str, age: int, nights: int) -> None:
    assert retention.why_not_evict(EvictionCase(kind, 0, nights), age) is not None


def test_one_night_evicts_few() -> None:
    assert [retention.eviction_cap(size) for size in (0, 400, 600, 20_000)] == [5, 5, 6, 200]
