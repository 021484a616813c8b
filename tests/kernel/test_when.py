"""Times are read as people type them; what is no time is ``None``."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabula.kernel.clock import format_time
from fabula.kernel.when import read_until, read_when

NOW = 1_772_000_000_000  # 2026-02-25T06:13:20Z


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("now", "2026-02-25T06:13:20.000Z"),
        ("today", "2026-02-25T00:00:00.000Z"),
        ("Yesterday", "2026-02-24T00:00:00.000Z"),
        ("30m", "2026-02-25T05:43:20.000Z"),
        ("12h", "2026-02-24T18:13:20.000Z"),
        ("7d", "2026-02-18T06:13:20.000Z"),
        ("2w", "2026-02-11T06:13:20.000Z"),
        ("2026-02", "2026-02-01T00:00:00.000Z"),
        ("2026-02-03", "2026-02-03T00:00:00.000Z"),
        ("2026-02-03T10:20", "2026-02-03T10:20:00.000Z"),
        ("2026-02-03t10:20:30z", "2026-02-03T10:20:30.000Z"),
        ("2026-02-03T10:20:00+02:00", "2026-02-03T08:20:00.000Z"),
    ],
)
def test_a_time_is_understood(text: str, meaning: str) -> None:
    assert format_time(read_when(text, NOW)) == meaning


@pytest.mark.parametrize("text", ["", "soon", "7x", "d", "-7d", "2026-13", "2026-99-01", "٣d", "9999999d", "abcd-ef"])
def test_what_is_no_time_is_none(text: str) -> None:
    assert read_when(text, NOW) is None


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("today", "2026-02-26T00:00:00.000Z"),
        ("yesterday", "2026-02-25T00:00:00.000Z"),
        ("2026-02-03", "2026-02-04T00:00:00.000Z"),
        ("20260203", "2026-02-04T00:00:00.000Z"),
        ("2026-02", "2026-03-01T00:00:00.000Z"),
        ("2025-12", "2026-01-01T00:00:00.000Z"),
        ("2026-02-03T10:20", "2026-02-03T10:20:00.000Z"),
        ("7d", "2026-02-18T06:13:20.000Z"),
        ("soon", ""),
    ],
)
def test_the_end_of_a_span_counts_a_named_day_or_month_whole(text: str, meaning: str) -> None:
    assert format_time(read_until(text, NOW)) == meaning


@given(st.text(max_size=12))
def test_no_text_makes_it_fail(text: str) -> None:
    moment = read_when(text, NOW)
    assert moment is None or isinstance(moment, int)
