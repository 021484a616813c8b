"""File order rules inside a file, time between files."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from fabula.record.loader import Row
from fabula.record.reading.order import reading_order


def row(number: int, file: int, offset: int, time: int | None) -> Row:
    return Row(number, f"u{number}", 1, 1, "", "", file, offset, 1, "reply", "", time, 0)


def test_the_older_file_comes_first_though_it_was_read_last() -> None:
    rows = [row(1, 1, 0, 300), row(2, 1, 9, 400), row(3, 2, 0, 100), row(4, 2, 9, 200)]
    assert [each.id for each in reading_order(rows)] == [3, 4, 1, 2]


def test_records_dropped_from_the_live_file_keep_their_place_in_the_sealed_one() -> None:
    rows = [row(1, 7, 40, 30), row(2, 7, 60, 40), row(3, 7, 0, 10), row(4, 7, 20, 20)]
    assert [each.id for each in reading_order(rows)] == [3, 4, 1, 2]


def test_a_time_that_runs_backwards_changes_nothing_inside_a_file() -> None:
    rows = [row(1, 1, 0, 500), row(2, 1, 5, 100), row(3, 1, 9, None), row(4, 2, 0, 600)]
    assert [each.id for each in reading_order(rows)] == [1, 2, 3, 4]


@given(st.lists(st.tuples(st.integers(1, 4), st.integers(0, 99), st.none() | st.integers(0, 9)), max_size=20))
def test_every_row_stays_and_files_keep_their_order(parts: list[tuple[int, int, int | None]]) -> None:
    rows = [row(number, *part) for number, part in enumerate(parts)]
    ordered = reading_order(rows)
    assert sorted(each.id for each in ordered) == [each.id for each in rows]
    for file in {each.file_id for each in rows}:
        offsets = [each.offset for each in ordered if each.file_id == file]
        assert offsets == sorted(offsets)
