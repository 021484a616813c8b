"""Fusing rankings and spreading the result."""

from __future__ import annotations

from math import inf, nan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabula.memory.standing.ranking import by_vectors, demoted, diversified, fused, share_of_rank

names = st.text("abcdef", min_size=1, max_size=2)
arms = st.lists(st.tuples(st.sampled_from([1.0, 0.5, 0.4]), st.lists(names, max_size=8)), max_size=4)
vectors = st.dictionaries(names, st.lists(st.floats(-1, 1), min_size=3, max_size=3), max_size=8)


def test_a_share_falls_with_the_rank() -> None:
    assert share_of_rank(1) == pytest.approx(1 / 61)
    shares = [share_of_rank(rank) or 0.0 for rank in range(1, 50)]
    assert shares == sorted(shares, reverse=True)


@pytest.mark.parametrize("wrong", [(0, 1.0), (nan, 1.0), (inf, 1.0), (1, 0.0), (1, -1.0), (1, nan), (1, inf)])
def test_a_rank_or_weight_that_is_none_has_no_part(wrong: tuple[float, float]) -> None:
    assert share_of_rank(*wrong) is None


@given(arms, st.randoms(use_true_random=False))
def test_fusing_does_not_depend_on_the_order_of_arms(found: list[tuple[float, list[str]]], random: object) -> None:
    mixed = list(found)
    random.shuffle(mixed)  # type: ignore[attr-defined]
    assert fused(mixed) == fused(found)


@given(arms)
def test_fused_is_best_first_and_ties_go_by_path(found: list[tuple[float, list[str]]]) -> None:
    result = fused(found)
    assert result == sorted(result, key=lambda item: (-item[1], item[0]))
    assert {path for path, _ in result} == {path for _, ranking in found for path in ranking}


def test_an_arm_without_weight_drops_out() -> None:
    assert fused([(0.0, ["a"]), (1.0, ["b"])]) == [("b", 1 / 61)]


def test_a_path_named_twice_counts_once() -> None:
    assert fused([(1.0, ["a", "a", "b"])]) == fused([(1.0, ["a", "b"])])


candidates = st.lists(names, unique=True, max_size=8).map(
    lambda paths: [(path, 1 / (place + 1)) for place, path in enumerate(paths)]
)


@given(candidates, vectors, st.integers(-1, 10))
def test_as_many_are_chosen_as_were_asked_for(
    found: list[tuple[str, float]], known: dict[str, list[float]], limit: int
) -> None:
    chosen = diversified(found, by_vectors(known), limit)
    assert len(chosen) == max(0, min(limit, len(found)))
    assert len(set(chosen)) == len(chosen)
    if chosen:
        assert chosen[0] == found[0][0]
    assert diversified(found, by_vectors(known), limit, 1.0) == [path for path, _ in found[: max(0, limit)]]


def test_what_repeats_a_better_one_falls_and_what_has_no_vector_does_not() -> None:
    found = [("a", 1.0), ("copy", 0.9), ("other", 0.5), ("plain", 0.45)]
    known = {"a": [1.0, 0.0], "copy": [1.0, 0.0], "other": [0.0, 1.0]}
    assert diversified(found, by_vectors(known), 4) == ["a", "other", "plain", "copy"]
    opposite = {"a": [1.0, 0.0], "copy": [-1.0, 0.0]}
    assert diversified(found[:2], by_vectors(opposite), 2) == ["a", "copy"]


def test_of_two_that_differ_by_a_not_the_weaker_is_halved() -> None:
    scores = {"good": 1.0, "bad": 0.8, "far": 0.7}
    known = {"good": [1.0, 0.0], "bad": [0.99, 0.05], "far": [0.0, 1.0]}
    texts = {"good": "The cache is safe.", "bad": "The cache isn't safe.", "far": "Never touch it."}
    assert demoted(scores, by_vectors(known), texts) == {"good": 1.0, "bad": 0.4, "far": 0.7}


@given(
    st.dictionaries(names, st.floats(0, 1), max_size=6),
    vectors,
    st.dictionaries(names, st.sampled_from(["x", "not x"])),
)
def test_demoting_lowers_by_half_at_most_and_never_the_best(
    scores: dict[str, float], known: dict[str, list[float]], texts: dict[str, str]
) -> None:
    weighed = demoted(scores, by_vectors(known), texts)
    assert all(weighed[path] in {score, score / 2} for path, score in scores.items())
    if scores:
        best = min(scores, key=lambda path: (-scores[path], path))
        assert weighed[best] == scores[best]
