"""Similarity stays in its bounds, sums do not drift."""

from __future__ import annotations

from math import inf, nan

from hypothesis import given
from hypothesis import strategies as st

from fabula.memory.standing.numbers import clamp, compensated_sum, cosine, distance

vectors = st.lists(st.floats(-1e6, 1e6), min_size=0, max_size=8)


@given(vectors, vectors)
def test_cosine_is_symmetric_and_never_leaves_its_bounds(left: list[float], right: list[float]) -> None:
    assert -1.0 <= cosine(left, right) <= 1.0
    assert cosine(left, right) == cosine(right, left)
    assert 0.0 <= distance(left, right) <= 2.0


def test_a_vector_without_length_is_like_nothing() -> None:
    assert cosine([0.0, 0.0], [1.0, 2.0]) == 0.0
    assert cosine([], [1.0]) == 0.0
    assert cosine([1e-200], [1e-200]) == 0.0  # the square is lost


def test_tiny_components_do_not_make_more_than_one() -> None:
    assert cosine([0, 0, 0, 2.2e-162], [0, 0, 0, 2.1e-155, 0]) == 1.0


def test_what_is_no_number_is_like_nothing() -> None:
    assert cosine([nan, 1.0], [1.0, 1.0]) == 0.0
    assert cosine([inf], [1.0]) == 0.0
    assert clamp(nan) == 0.0


def test_vectors_of_different_length_are_compared_over_what_both_have() -> None:
    assert cosine([1.0, 0.0, 5.0], [1.0, 0.0]) == 1.0


def test_weights_that_make_one_add_up_to_exactly_one() -> None:
    weights = [0.25, 0.15, *[0.1] * 6]
    naive = 0.0
    for weight in weights:
        naive += weight
    assert naive != 1.0
    assert compensated_sum(weights) == 1.0


@given(st.lists(st.integers(-(10**6), 10**6)))
def test_whole_numbers_add_up_exactly(values: list[int]) -> None:
    assert compensated_sum(values) == sum(values)
