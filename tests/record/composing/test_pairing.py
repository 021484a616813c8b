"""Pairing of calls and results: what an agent's model would refuse goes, everything else stays."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from fabula.record.composing.pairing import UNANSWERED, UNASKED, UNFINISHED, Cut, Item, pair

TOOLS = st.lists(st.sampled_from("abcde"), max_size=3, unique=True).map(tuple)
ITEMS = st.lists(
    st.builds(
        Item,
        calls=TOOLS,
        results=TOOLS,
        answer=st.sampled_from(["", "m1", "m2"]),
        says=st.booleans(),
        thinks=st.booleans(),
    ),
    max_size=12,
)


def left(items: list[Item], cut: Cut) -> list[tuple[set[str], set[str]]]:
    """Return the calls and results that are left of each record that stays."""
    kept = []
    for index, item in enumerate(items):
        if index not in cut.records:
            gone = cut.blocks.get(index, frozenset())
            calls = {tool for tool in item.calls if ("call", tool) not in gone}
            kept.append((calls, {tool for tool in item.results if ("result", tool) not in gone}))
    return kept


@given(ITEMS)
def test_every_call_that_stays_has_one_result_not_before_it_and_every_result_its_call(items: list[Item]) -> None:
    asked: list[str] = []
    answered: list[str] = []
    for calls, results in left(items, pair(items)):
        asked += calls
        assert results <= set(asked)
        answered += results
    assert sorted(asked) == sorted(answered)
    assert len(set(asked)) == len(asked)


@given(ITEMS)
def test_what_says_something_stays(items: list[Item]) -> None:
    cut = pair(items)
    assert not any(items[index].says for index in cut.records)


def test_a_call_without_result_takes_the_thought_before_it_along() -> None:
    items = [
        Item(says=True),
        Item(answer="m", thinks=True),
        Item(calls=("a",), answer="m"),
    ]
    assert pair(items).records == {1: UNFINISHED, 2: UNANSWERED}


def test_a_thought_stays_with_the_text_of_its_answer() -> None:
    items = [Item(answer="m", thinks=True), Item(answer="m", says=True), Item(calls=("a",), answer="m")]
    assert pair(items).records == {2: UNANSWERED}


def test_only_the_lone_block_goes_from_a_record_that_holds_more() -> None:
    items = [Item(calls=("a", "b"), answer="m"), Item(results=("a", "x"))]
    cut = pair(items)
    assert cut.records == {}
    assert cut.blocks == {0: frozenset({("call", "b")}), 1: frozenset({("result", "x")})}


def test_a_second_result_of_one_call_goes() -> None:
    items = [Item(calls=("a",)), Item(results=("a",)), Item(results=("a",))]
    assert pair(items).records == {2: UNASKED}
