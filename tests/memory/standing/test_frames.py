"""The slot that a claim fills."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabula.memory.standing.frames import frame_key


@pytest.mark.parametrize(
    ("claim", "key"),
    [
        ("The owner of ledger-db is Ana.", "the owner of ledger-db is"),
        ("  the OWNER of\n ledger-db is   Bo", "the owner of ledger-db is"),
        ("The office of X is located in the city of Y.", "the office of x is located in the city of"),
        ("Rust is fast.", None),
        ("Ledger db is fast", "ledger db is"),
        ("The port is one two three four five six", "the port is"),
        ("The port is one two three four five six seven", None),
        ("Isolation levels matter much", None),
        ("The owner of ledger-db is", "the owner of"),
        ("", None),
        (".", None),
        ("...", None),
    ],
)
def test_claims_and_their_frames(claim: str, key: str | None) -> None:
    assert frame_key(claim) == key


@given(st.lists(st.sampled_from(["the", "port", "is", "of", "Ana", "in", "."]), max_size=12))
def test_a_key_does_not_depend_on_blanks_or_on_the_last_period(words: list[str]) -> None:
    key = frame_key(" ".join(words))
    assert frame_key("\n \t".join(words) + " ") == key
    if words and not words[-1].endswith("."):
        assert frame_key(" ".join(words) + ".") == key
    if key is not None:
        assert len(key.split()) >= 3
        assert key == key.lower()


@pytest.mark.parametrize("text", ["a" * 128_000, " " * 128_000, "is " * 64_000, "x is " * 32_000])
def test_long_texts_have_no_key_and_take_no_time(text: str) -> None:
    frame_key(text)
