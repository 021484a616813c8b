from __future__ import annotations

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabula.search.excerpt import excerpt
from fabula.search.fusion import scaled, weighted_sum
from fabula.search.matching import Match, Matcher, Tokenizer, relevance
from fabula.search.query import read_query
from fabula.search.terms import terms_of


def matcher(query: str) -> Matcher:
    tokenizer = Tokenizer(apsw.Connection(":memory:"), "porter unicode61 remove_diacritics 2")
    return Matcher(tokenizer, [term.wanted for term in terms_of(read_query(query, 0).words)])


def marked(query: str, text: str) -> list[str]:
    return [text[match.start : match.end] for match in matcher(query).find(text)]


@pytest.mark.parametrize(
    ("query", "text", "places"),
    [
        ("limit", "the limits are limiting", ["limits", "limiting"]),
        ('"clock skew"', "a clock, skew and clock skew", ["clock, skew", "clock skew"]),
        ("parse_config", "call parseConfig here", ["parseConfig"]),
        ("タワー", "東京タワーに行く", ["タワー"]),
        ("conf*", "Überconf config", ["config"]),
        ("naïve", "größe naive ende", ["naive"]),
        ("configura*", "a configuration", ["configuration"]),
    ],
)
def test_what_matched_is_what_is_marked(query: str, text: str, places: list[str]) -> None:
    assert marked(query, text) == places


@given(st.text(max_size=120))
def test_matches_lie_inside_the_text_and_never_overlap(text: str) -> None:
    end = 0
    for match in matcher("a e parseConfig 東京 x*").find(text):
        assert end <= match.start < match.end <= len(text)
        end = match.end


@given(st.text(max_size=900), st.integers(80, 300))
def test_an_excerpt_is_one_line_and_its_marks_lie_inside(text: str, width: int) -> None:
    shown = excerpt(text, matcher("a e o").find(text), [1.0, 2.0, 1.0], width)
    assert len(shown.text) <= width + 2
    assert not set(shown.text) & set("\n\r\t")
    assert all(0 <= start < end <= len(shown.text) for start, end in shown.marks)


def test_an_excerpt_shows_the_lines_that_hold_most() -> None:
    text = "alpha " + "filler words " * 80 + "alpha beta gamma " + "filler words " * 80
    shown = excerpt(text, matcher("alpha beta gamma").find(text), [1.0, 1.0, 1.0])
    assert [shown.text[start:end] for start, end in shown.marks] == ["alpha", "beta", "gamma"]


def test_repetitions_count_ever_less_than_other_terms() -> None:
    once = [Match(0, 1, 0, whole=True), Match(2, 3, 1, whole=True)]
    often = [Match(i, i + 1, 0, whole=True) for i in range(9)]
    assert relevance(once, [1.0, 1.0], 0.5) >= relevance(often, [1.0, 1.0], 0.5)


def test_scores_are_scaled_between_the_worst_and_the_best() -> None:
    assert scaled({"a": 2.0, "b": 4.0, "c": 3.0}) == {"a": 0.0, "b": 1.0, "c": 0.5}
    assert scaled({"a": 7.0}) == {"a": 1.0}
    assert scaled({}) == {}
    assert weighted_sum([(1.0, {"a": 1.0}), (0.5, {"a": 1.0, "b": 1.0})]) == {"a": 1.5, "b": 0.5}
