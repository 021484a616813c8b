"""One line edited: nothing else of it changes, and what would not come back is left alone."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fabula.record.rewriting.lines import MARK, edited, line

TEXTS = st.text(st.characters(exclude_categories=()), max_size=20)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**20), 10**20)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)


def nothing(_: dict[str, Any]) -> None:
    """Change nothing."""


@settings(deadline=None)
@given(st.dictionaries(TEXTS, VALUES, max_size=5))
def test_an_edited_line_says_what_it_said_and_bears_the_mark(value: dict[str, Any]) -> None:
    for raw in (line(value), json.dumps(value).encode()):
        after = edited(raw, nothing)
        assert after is not None
        assert b"\n" not in after
        assert json.loads(after) == {**value, MARK: True}


def test_bytes_that_are_no_utf8_come_out_as_they_went_in() -> None:
    after = edited(b'{"b":"\xff\xc3(","a":1}', nothing)
    assert after == b'{"b":"\xff\xc3(","a":1,"fabulaSlimmed":true}'


def test_escapes_of_lone_surrogates_stay_escapes() -> None:
    after = edited(b'{"a":"\\ud83d"}', nothing)
    assert after is not None
    assert json.loads(after)["a"] == "\ud83d"
    assert after.isascii()


@pytest.mark.parametrize(
    "raw",
    [
        b'{"a":"\xff\\udcff"}',  # which of the two is the byte?
        b'{"a":1e999}',
        b'{"a":NaN}',
        b"[1]",
        b"{torn",
        b'{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    ],
)
def test_what_would_not_come_back_is_left_alone(raw: bytes) -> None:
    assert edited(raw, nothing) is None
