"""Nearly the same is not the same."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabula.memory.standing.duplicates import Pair, components, mergeable, veto

texts = st.lists(
    st.sampled_from("the cache is not isn't safe 3 13 v1.2 M1 pro beta can't never".split()), max_size=8
).map(" ".join)


@pytest.mark.parametrize(
    ("left", "right", "why"),
    [
        ("It is safe.", "It is not safe.", "negation"),
        ("It is safe.", "It isn't safe.", "negation"),
        ("It is safe.", "It isn’t safe.", "negation"),
        ("It can run.", "It cannot run.", "negation"),
        ("Never push.", "Do not push.", None),
        ("Retry 3 times.", "Retry 13 times.", "numbers"),
        ("See ADR 11.", "See ADR 13.", "numbers"),
        ("Version 1.2 works.", "Version 1.20 works.", "numbers"),
        ("Runs on M1.", "Runs on M1 Pro.", "variant"),
        ("The release.", "The release beta.", "variant"),
        ("The cache is warm.", "The cache stays warm.", None),
    ],
)
def test_pairs_and_what_speaks_against_them(left: str, right: str, why: str | None) -> None:
    assert veto(left, right) == veto(right, left) == why


@given(texts, texts)
def test_a_veto_is_symmetric_and_nothing_vetoes_itself(left: str, right: str) -> None:
    assert veto(left, right) == veto(right, left)
    assert veto(left, left) is None


def test_what_cannot_be_read_is_not_merged() -> None:
    assert veto(None, "a") == veto("a", None) == "unread"
    assert mergeable([Pair("a", "b", 0.99)], {"a": "one"}) == []


def test_the_threshold_is_strict_a_memory_has_one_role_and_the_order_is_the_priority() -> None:
    said = dict.fromkeys("abcd", "the same")
    pairs = [
        Pair("a", "b", 0.92),
        Pair("a", "a", 1.0),
        Pair("b", "c", 0.95),
        Pair("c", "d", 0.99),
        Pair("a", "d", 0.93),
    ]
    assert mergeable(pairs, said) == [Pair("b", "c", 0.95), Pair("a", "d", 0.93)]
    assert mergeable(pairs, said, most=1) == [Pair("b", "c", 0.95)]
    assert mergeable([Pair("a", "b", float("nan"))], said) == []


edges = st.lists(st.tuples(*[st.text("abcdefg", min_size=1, max_size=1)] * 2), max_size=12)


@given(edges, st.randoms(use_true_random=False))
def test_groups_do_not_depend_on_the_order_or_direction_of_pairs(pairs: list[tuple[str, str]], random: object) -> None:
    mixed = [pair[::-1] for pair in pairs]
    random.shuffle(mixed)  # type: ignore[attr-defined]
    groups = components(pairs)
    assert components(mixed) == groups
    assert sorted(one for group in groups for one in group) == sorted({end for pair in pairs for end in pair})
    assert all(group == sorted(group) for group in groups)
    assert all(any({left, right} <= set(group) for group in groups) for left, right in pairs)


def test_a_pair_with_itself_is_a_group_of_one() -> None:
    assert components([("a", "a"), ("c", "b")]) == [["a"], ["b", "c"]]
