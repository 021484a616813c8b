"""How alike two errors are."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from fabula.record.failures.similar import FLOOR, most_alike, words_of

KNOWN = [
    "ModuleNotFoundError: No module named 'yaml'",
    "ModuleNotFoundError: No module named 'numpy'",
    "KeyError: 'id'",
    "error TS2304: Cannot find name 'total'.",
    "fatal: not a git repository",
]


def test_the_same_words_are_wholly_alike() -> None:
    best = most_alike("modulenotfounderror no module named yaml", KNOWN, 3)
    assert best[0].signature == KNOWN[0]
    assert best[0].score == 1


def test_rare_words_count_more_than_common_ones() -> None:
    scores = {one.signature: one.score for one in most_alike("No module named 'yaml' here", KNOWN, 9)}
    assert scores[KNOWN[0]] > scores.get(KNOWN[1], 0)


def test_a_part_of_a_long_error_finds_it() -> None:
    long = "OperationalError: could not connect to server at host db port 5432 while starting the worker pool of shop"
    assert most_alike("could not connect to server", [*KNOWN, long], 1)[0].signature == long


def test_nothing_alike_is_nothing() -> None:
    assert most_alike("segmentation fault (core dumped)", KNOWN, 5) == []
    assert most_alike("", KNOWN, 5) == []


def test_placeholders_are_no_words() -> None:
    assert words_of("took <n> s at <time>: E0308") == {"took", "at", "e0308"}


@given(st.text(max_size=60), st.lists(st.text(max_size=40), max_size=6, unique=True))
def test_scores_stay_between_the_floor_and_one(wanted: str, signatures: list[str]) -> None:
    found = most_alike(wanted, signatures, 10)
    assert all(FLOOR <= one.score <= 1 for one in found)
    assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)
