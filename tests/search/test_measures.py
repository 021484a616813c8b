from __future__ import annotations

import pytest

from fabula.search.measures import (
    all_at,
    bootstrap,
    effective_k,
    evidence_ids,
    hit_at,
    is_abstention,
    ndcg_at,
    recall_at,
    reciprocal_rank,
)


def test_one_of_two_at_the_first_rank() -> None:
    ranking, gold = ["a", "x", "b"], {"a", "b"}
    assert (hit_at(ranking, gold, 1), all_at(ranking, gold, 1), recall_at(ranking, gold, 1)) == (1, 0, 0.5)
    assert (hit_at(ranking, gold, 3), all_at(ranking, gold, 3), recall_at(ranking, gold, 3)) == (1, 1, 1)


def test_both_formulas_of_ndcg_are_there() -> None:
    assert ndcg_at(["x", "a"], {"a"}, 5, longmemeval=True) == 1.0
    assert ndcg_at(["x", "a"], {"a"}, 5) == pytest.approx(0.6309, abs=1e-4)


def test_turns_are_taken_until_enough_sessions_are_seen() -> None:
    assert effective_k(["s1_1", "s1_2", "s2_1"], lambda turn: turn.partition("_")[0], 2) == 3


def test_abstention_questions_are_known_by_their_id() -> None:
    assert is_abstention("q7_abs")
    assert not is_abstention("q7")


def test_evidence_is_read_from_untidy_texts() -> None:
    assert evidence_ids(["D8:6; D9:17", "D:11:26", "D30:05", ""]) == [(8, 6), (9, 17), (30, 5)]


def test_a_repeated_id_counts_once_at_its_first_rank() -> None:
    assert recall_at(["a", "a", "b"], {"b"}, 2) == 1
    assert reciprocal_rank(["x", "x", "a"], {"a"}) == 0.5


def test_a_short_ranking_is_legal() -> None:
    assert recall_at([], {"a"}, 10) == 0
    assert reciprocal_rank([], {"a"}) == 0


def test_the_same_values_give_the_same_interval() -> None:
    values = {number: [number / 10, 1.0] for number in range(1, 9)}
    assert bootstrap(values, rounds=200) == bootstrap(values, rounds=200)
    mean, low, high = bootstrap(values, rounds=200)
    assert low <= mean <= high
