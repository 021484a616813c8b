"""Fields of unknown types, and times read quickly."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabula.hosts.claude import fields
from fabula.hosts.claude.fields import time_of
from fabula.kernel.clock import parse_time


@given(st.datetimes(datetime(1970, 1, 1), datetime(2200, 1, 1)))  # noqa: DTZ001  # the strategy makes naive ones
def test_the_quick_reading_of_a_time_is_the_kernels(moment: datetime) -> None:
    text = f"{moment:%Y-%m-%dT%H:%M:%S}.{moment.microsecond // 1000:03d}Z"
    assert time_of(text) == parse_time(text)
    assert time_of(text) == time_of(text)


@pytest.mark.parametrize(
    "value", ["", "2026-13-40T99:99:99.999Z", "2026-02-03T04:05:xx.789Z", "2026-02-03T04:05:06.7x9Z", None, [], {},
              True, float("nan"), "0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59-23:59"],
)  # fmt: skip
def test_what_is_no_time_gives_none_or_a_number(value: object) -> None:
    assert time_of(value) is None or isinstance(time_of(value), int)


def test_other_forms_go_through_the_kernel() -> None:
    assert time_of(1_770_091_506_789) == 1_770_091_506_789
    assert time_of("2026-02-03T05:05:06.789+01:00") == 1_770_091_506_789


def test_the_memory_of_minutes_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fields, "_MINUTES_KEPT", 10)
    start = datetime(2026, 1, 1, tzinfo=UTC)
    for minute in range(50):
        assert time_of(f"{start + timedelta(minutes=minute):%Y-%m-%dT%H:%M}:01.000Z") is not None
    assert len(fields._minutes) <= 10
