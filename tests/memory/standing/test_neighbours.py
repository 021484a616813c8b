"""Who is near whom."""

from __future__ import annotations

from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabula.memory.standing.neighbours import Near, from_float32, nearest_pairs, ranked_pairs


def test_the_floor_is_included_and_pairs_go_both_ways() -> None:
    known = {"a": [1.0, 0.0], "b": [1.0, 0.0], "c": [0.0, 1.0]}
    assert nearest_pairs(known, floor=1.0) == [Near("a", "b", 1.0), Near("b", "a", 1.0)]
    assert len(nearest_pairs(known, floor=0.0)) == 6
    assert nearest_pairs(known, floor=1.0, limit=1) == [Near("a", "b", 1.0)]


def test_ties_of_a_source_go_to_the_smaller_target() -> None:
    known = {name: [1.0] for name in "dcba"}
    assert [near.target for near in nearest_pairs(known, each=1)] == ["b", "a", "a", "a"]


def test_vectors_of_mixed_length_are_compared_and_what_gives_no_number_is_left_out() -> None:
    known = {"a": [1.0, 0.0, 9.0], "b": [1.0, 0.0], "n": [float("nan"), 1.0]}
    assert nearest_pairs(known) == [Near("a", "b", 1.0), Near("b", "a", 1.0)]


@given(st.dictionaries(st.text("abcdef", min_size=1, max_size=1), st.lists(st.floats(-1, 1), min_size=2, max_size=2)))
def test_given_pairs_are_ranked_as_all_pairs_are(known: dict[str, list[float]]) -> None:
    pairs = [(left, right) for left in known for right in known]
    assert ranked_pairs(known, pairs, floor=0.0) == nearest_pairs(known, floor=0.0)


def test_a_vector_is_read_wherever_it_lies() -> None:
    raw = array("f", [1.0, -0.5]).tobytes()
    assert from_float32(memoryview(b"x" + raw)[1:]) == [1.0, -0.5]
    for wrong in (b"", b"123", raw + b"1"):
        with pytest.raises(ValueError, match="no vector"):
            from_float32(wrong)
