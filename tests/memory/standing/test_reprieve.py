"""More time for what was used, and what stands out by its use."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from fabula.memory.standing.reprieve import is_reprieved, reprieve_score
from fabula.memory.standing.salience import has_salience, salience

hours = st.floats(0, 1e5)
outcomes = st.floats(-1, 1)


@given(st.integers(-5, 20), st.integers(0, 1000), outcomes, hours)
def test_a_reprieve_score_is_above_nothing_and_grows_with_readings(
    importance: int, accesses: int, outcome: float, since: float
) -> None:
    score = reprieve_score(importance, accesses, outcome, since)
    assert score > 0
    assert reprieve_score(importance, accesses + 1, outcome, since) > score


def test_a_bad_outcome_counts_nothing() -> None:
    assert reprieve_score(5, 2, -1.0, 10) == reprieve_score(5, 2, 0.0, 10)
    assert reprieve_score(5, 2, 1.0, 10) > reprieve_score(5, 2, 0.0, 10)


def test_importance_counts_within_one_to_ten() -> None:
    assert reprieve_score(99, 0, 0, 0) == reprieve_score(10, 0, 0, 0)
    assert reprieve_score(-3, 0, 0, 0) == reprieve_score(1, 0, 0, 0)


def test_the_floor_is_included_and_three_times_is_enough() -> None:
    assert is_reprieved(0.5, 0)
    assert is_reprieved(0.5, 2)
    assert not is_reprieved(0.4999, 0)
    assert not is_reprieved(9.0, 3)
    assert not is_reprieved(9.0, 0, most=0)


@given(st.integers(0, 1000), outcomes, st.integers(0, 10**12), st.integers(0, 10**10), st.integers(0, 10**10))
def test_salience_fades_with_time_and_grows_with_use(
    accesses: int, outcome: float, last: int, passed: int, more: int
) -> None:
    now = salience(accesses, outcome, last, last + passed)
    assert salience(accesses, outcome, last, last + passed + more) <= now
    assert salience(accesses + 1, outcome, last, last + passed) > now
    assert salience(accesses, outcome, last, last - passed) >= now


def test_tasks_and_people_do_not_stand_out_by_being_opened() -> None:
    assert has_salience("semantic", "areas/a.html")
    assert not has_salience("task", "areas/a.html")
    assert not has_salience("semantic", "resources/people/ana.html")
