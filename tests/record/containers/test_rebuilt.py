"""Rows that were sealed as lines make a database again."""

from __future__ import annotations

import os

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fabula.record.containers.rebuilt import rebuild_database
from fabula.record.containers.rows import Shared, row_line, select_rows

names = st.sampled_from(["id", "data", "time created", 'odd"name'])
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
values = st.none() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False) | st.binary(max_size=9) | texts
rows = st.lists(
    st.tuples(st.sampled_from(["session", "part", "a b"]), st.dictionaries(names, values, max_size=4)), max_size=8
)


@settings(max_examples=60)
@given(rows)
def test_every_row_comes_back_with_its_values_and_their_types(tmp_path_factory, table_rows):
    path = str(tmp_path_factory.mktemp("rebuilt") / "again.db")
    assert rebuild_database((row_line(table, row) for table, row in table_rows), path) == len(table_rows)
    assert os.stat(path).st_mode & 0o777 == 0o600
    connection = apsw.Connection(path)
    for table in {table for table, _ in table_rows}:
        found = list(select_rows(connection, f'select * from "{table}" order by rowid'))
        expected = [row for name, row in table_rows if name == table]
        assert len(found) == len(expected)
        for got, want in zip(found, expected, strict=True):
            kept = {name: value for name, value in got.items() if value is not None}
            assert kept == {name: value for name, value in want.items() if value is not None}
            assert all(type(kept[name]) is type(want[name]) for name in kept)
    connection.close()


def test_a_file_that_exists_is_never_written_over(tmp_path):
    path = tmp_path / "again.db"
    path.write_bytes(b"mine")
    with pytest.raises(OSError, match="exists"):
        rebuild_database([], str(path))
    assert path.read_bytes() == b"mine"


def test_a_line_that_is_no_row_leaves_no_half_of_a_table(tmp_path):
    path = str(tmp_path / "again.db")
    with pytest.raises(ValueError, match="not a row"):
        rebuild_database([row_line("t", {"a": 1}), b"{}"], path)
    connection = apsw.Connection(path)
    assert connection.execute("select count(*) from sqlite_schema").fetchone() == (0,)
    connection.close()


def test_a_blob_that_leans_on_an_earlier_row_is_put_together(tmp_path):
    path = str(tmp_path / "again.db")
    rows = [("t", {"b": b"\xff123"}), ("u", {"b": b"x"}), ("t", {"b": None}), ("t", {"b": Shared(2, 3, b"\xfe")})]
    rebuild_database((row_line(*row) for row in rows), path)
    connection = apsw.Connection(path)
    assert connection.execute("select b from t").fetchall() == [(b"\xff123",), (None,), (b"\xff12\xfe",)]
    connection.close()


@pytest.mark.parametrize("value", [Shared(1, 9, b""), Shared(2, 1, b""), Shared(0, 1, b"")])
def test_a_blob_that_leans_on_nothing_is_no_row(tmp_path, value):
    with pytest.raises(ValueError, match="leans on"):
        rebuild_database([row_line("t", {"b": b"\xff"}), row_line("t", {"b": value})], str(tmp_path / "again.db"))
