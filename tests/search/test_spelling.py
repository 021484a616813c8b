from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabula.search.spelling import by_length, distance, nearest

KNOWN = by_length([("limit", 9), ("configur", 4), ("certif", 3), ("nginx", 7), ("parser", 2)])


@pytest.mark.parametrize(
    ("word", "stem", "meant"),
    [
        ("limti", "limti", ["limit"]),
        ("configuraton", "configuraton", ["configur"]),
        ("ngnix", "ngnix", ["nginx"]),
        ("abc", "abc", []),
        ("zorble", "zorbl", []),
    ],
)
def test_a_typo_leads_to_the_nearest_known_stem(word: str, stem: str, meant: list[str]) -> None:
    assert nearest(word, stem, KNOWN) == meant


@pytest.mark.parametrize(
    ("left", "right", "edits"), [("ab", "ba", 1), ("abc", "abc", 0), ("abc", "abd", 1), ("a", "abcd", None)]
)
def test_distance_counts_edits_up_to_what_is_allowed(left: str, right: str, edits: int | None) -> None:
    assert distance(left, right, 2) == edits


@given(st.text("abc", max_size=8), st.text("abc", max_size=8))
def test_distance_is_the_same_both_ways(left: str, right: str) -> None:
    assert distance(left, right, 3) == distance(right, left, 3)
