"""Lists of rows: they count, they tell who holds what, and they choose whom to rank."""

from __future__ import annotations

import apsw
from hypothesis import given
from hypothesis import strategies as st

from fabula.search.holders import Held, units_of, weight_of

WORDS = ("ant", "bee", "cat", "dog")
TEXTS = st.lists(st.sets(st.sampled_from(WORDS)), max_size=30)


def index(texts: list[set[str]]) -> apsw.Connection:
    connection = apsw.Connection("")
    connection.execute("create virtual table x using fts5(text, content='', contentless_delete=1)")
    for row, words in enumerate(texts, 1):
        connection.execute("insert into x(rowid, text) values(?, ?)", (row, " ".join(sorted(words))))
    return connection


def held(texts: list[set[str]], most: int = 100) -> Held:
    found = Held(index(texts), "x", most)
    for unit, word in enumerate(WORDS):
        found.add(unit, word)
    return found


@given(TEXTS)
def test_bits_say_who_holds_what(texts: list[set[str]]) -> None:
    bits = held(texts).bits
    for row, words in enumerate(texts, 1):
        assert {word for unit, word in enumerate(WORDS) if bits.get(row, 0) >> unit & 1} == words


@given(TEXTS, st.integers(0, 4))
def test_what_is_too_common_is_counted_and_not_listed(texts: list[set[str]], most: int) -> None:
    found = Held(index(texts), "x", most)
    for unit, word in enumerate(WORDS):
        number = sum(word in words for words in texts)
        assert found.count(word) == number == len(found.rows(word))
        assert found.add(unit, word) == (number if number <= most else None)
        assert bool(found.listed >> unit & 1) == (number <= most)


@given(TEXTS, st.lists(st.integers(1, 9), min_size=4, max_size=4), st.integers(1, 10))
def test_the_strongest_hold_at_least_as_much_as_any_that_is_left_out(
    texts: list[set[str]], weights: list[int], enough: int
) -> None:
    found, by_unit = held(texts), {unit: float(weight) for unit, weight in enumerate(weights)}
    chosen = found.strongest(by_unit, enough)
    if chosen is None:
        return
    assert len(chosen) >= enough
    left = set(found.bits) - set(chosen)
    assert left, "else there was nothing to choose"
    least = min(weight_of(found.bits[row], by_unit) for row in chosen)
    assert max(weight_of(found.bits[row], by_unit) for row in left) <= least


def test_parts_are_numbered_behind_the_terms() -> None:
    assert units_of([("a", "b"), (), ("c",)]) == [[3, 4], [], [5]]
