"""Confidence falls towards a floor with time, by whole steps on a grid."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from fabula.memory.format.vocabulary import TYPES
from fabula.memory.standing.decay import (
    DAY_MS,
    confidence_now,
    decayed,
    is_material,
    outcome_after,
    step,
    to_grid,
)
from fabula.memory.standing.types import rule_of

parts = st.integers(0, 10_000)
confidences = st.floats(0, 1)


def test_the_grid_has_ten_thousand_parts() -> None:
    assert (to_grid(1.0), to_grid(0.2), to_grid(-0.5)) == (10_000, 2_000, -5_000)


@given(st.floats(0, 1), parts, parts)
def test_a_step_lies_between_where_it_was_and_where_it_goes(alpha: float, previous: int, signal: int) -> None:
    assert min(previous, signal) <= step(alpha, previous, signal) <= max(previous, signal)


@given(parts, parts)
def test_alpha_zero_stays_and_alpha_one_snaps(previous: int, signal: int) -> None:
    assert step(0.0, previous, signal) == previous
    assert step(1.0, previous, signal) == signal


def test_the_trajectory_from_one() -> None:
    assert [decayed(1.0, steps) for steps in (1, 2, 3)] == [0.92, 0.848, 0.7832]


@given(confidences, st.integers(-3, 200))
def test_decay_never_rises_and_never_crosses_the_floor(confidence: float, steps: int) -> None:
    after = decayed(confidence, steps)
    assert after <= confidence
    assert after >= min(confidence, 0.2)
    if steps <= 0 or confidence <= 0.2:
        assert after == confidence


@given(confidences, st.integers(0, 60), st.integers(0, 60))
def test_many_steps_are_single_steps_one_after_another(confidence: float, first: int, second: int) -> None:
    assert decayed(decayed(confidence, first), second) == decayed(confidence, first + second)


@given(confidences, confidences, st.integers(0, 60))
def test_the_more_trusted_stays_the_more_trusted(one: float, other: float, steps: int) -> None:
    low, high = sorted((one, other))
    assert to_grid(decayed(low, steps)) <= to_grid(decayed(high, steps))


@given(
    confidences, st.sampled_from(TYPES), st.integers(0, 10**12), st.integers(-(10**10), 10**11), st.integers(0, 10**10)
)
def test_confidence_only_falls_with_time(confidence: float, kind: str, at: int, passed: int, more: int) -> None:
    now = confidence_now(confidence, kind, at, at + passed)
    assert confidence_now(confidence, kind, at, at + passed + more) <= now <= confidence
    if passed <= 0:
        assert now == confidence


def test_half_of_the_way_is_gone_after_the_half_life() -> None:
    for kind in ("episodic", "semantic", "error_pattern", "verdict"):
        half_life = rule_of(kind).half_life
        assert half_life is not None
        halfway = confidence_now(1.0, kind, 0, int(half_life * DAY_MS))
        assert abs(halfway - 0.6) < 0.04, kind


def test_what_never_ages_or_is_protected_keeps_its_confidence() -> None:
    for kind in ("procedural", "task", "user_preference", "arc"):
        assert confidence_now(0.9, kind, 0, 10_000 * DAY_MS) == 0.9


def test_reading_twice_at_one_time_gives_the_same() -> None:
    assert confidence_now(0.9, "semantic", 0, 40 * DAY_MS) == confidence_now(0.9, "semantic", 0, 40 * DAY_MS)


def test_only_a_change_of_five_thousandths_is_worth_a_word() -> None:
    assert is_material(0.9, 0.895)
    assert is_material(0.895, 0.9)
    assert not is_material(0.9, 0.8988)


@given(st.floats(-1, 1), st.sampled_from([1.0, -1.0]))
def test_outcomes_stay_within_their_bounds(previous: float, signal: float) -> None:
    assert -1.0 <= outcome_after(previous, signal) <= 1.0
