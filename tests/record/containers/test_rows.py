"""Rows of another program's database: exact there and back, read without leaving a trace."""

from __future__ import annotations

import math
import os

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabula.record.containers.rows import (
    SessionRows,
    Shared,
    column_bytes,
    foreign_reader,
    line_chunks,
    read_line,
    row_line,
    select_rows,
)

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
leanings = st.builds(Shared, st.integers(1, 9), st.integers(0, 99), st.binary(max_size=9))
numbers = st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False)
values = st.none() | numbers | st.binary(max_size=20) | texts | leanings
rows = st.dictionaries(texts, values, max_size=6)


@given(texts, rows)
def test_a_row_survives_its_line(table, row):
    line = row_line(table, row)
    assert b"\n" not in line
    assert read_line(line) == (table, row)
    back = read_line(line)[1]
    assert all(type(back[name]) is type(value) for name, value in row.items())
    assert row_line(*read_line(line)) == line


@given(texts)
def test_a_text_column_is_given_back_letter_for_letter(text):
    assert column_bytes(row_line("part", {"id": "p", "data": text}), ("data",)) == text.encode()


def test_infinities_survive_and_what_is_no_row_is_refused():
    assert read_line(row_line("t", {"x": math.inf}))[1] == {"x": math.inf}
    for line in (b"{}", b"[]", b"nonsense", b'{"table":"t","row":{"a":[1]}}', b'{"table":"t","row":{"a":{"hex":1}}}'):
        with pytest.raises(ValueError, match=r"."):
            read_line(line)
    assert column_bytes(row_line("t", {"n": 1}), ("n", "m")) is None


@given(st.lists(rows, max_size=8), st.integers(1, 200))
def test_the_stream_can_be_taken_up_at_any_chunk(table_rows, chunk_bytes):
    lines = [row_line("t", row) for row in table_rows]
    stream = b"".join(line + b"\n" for line in lines)
    chunks = list(line_chunks(lines, 0, chunk_bytes))
    assert b"".join(chunk.data for chunk in chunks) == stream
    for chunk in chunks:
        for found in chunk.values:
            assert stream[found.offset : found.offset + found.length] in lines
        assert next(iter(line_chunks(lines, chunk.offset, chunk_bytes))) == chunk


def walk(connection, key):
    for row in select_rows(connection, "select * from item where key=? order by n", key):
        yield "item", row


def make(path, count=3):
    connection = apsw.Connection(str(path))
    connection.execute("pragma journal_mode=wal")
    connection.execute("create table item(key text, n integer, data text)")
    connection.executemany("insert into item values(?,?,?)", [("s", n, f'{{"n": {n}}}') for n in range(count)])
    return connection


def test_reading_a_database_at_rest_creates_no_file_beside_it(tmp_path):
    path = tmp_path / "host.db"
    make(path).close()
    before = {entry.name: entry.stat().st_mtime_ns for entry in tmp_path.iterdir()}
    found = [value.value["row"]["n"] for c in SessionRows(str(path), "s", walk).chunks() for value in c.values]
    assert found == [0, 1, 2]
    assert {entry.name: entry.stat().st_mtime_ns for entry in tmp_path.iterdir()} == before


def test_rows_in_the_log_of_a_running_owner_are_read_in_one_state(tmp_path):
    path = tmp_path / "host.db"
    owner = make(path, 5000)
    chunks = SessionRows(str(path), "s", walk, chunk_bytes=1000).chunks()
    found = next(chunks).values
    owner.execute("update item set data='late'")
    owner.execute("insert into item values('s', 9999, 'late')")
    for chunk in chunks:
        found += chunk.values
    assert [value.value["row"]["n"] for value in found] == list(range(5000))
    assert all("late" not in value.value["row"]["data"] for value in found)
    owner.close()


def test_an_owner_that_comes_while_a_resting_database_is_read_makes_the_reading_void(tmp_path):
    path = tmp_path / "host.db"
    make(path).close()

    def disturbed():
        with foreign_reader(str(path)):
            owner = apsw.Connection(str(path))
            owner.execute("insert into item values('s', 7, 'x')")
            owner.close()

    with pytest.raises(OSError, match="changed while it was read"):
        disturbed()


def test_a_file_that_is_no_database_is_an_os_error(tmp_path):
    path = tmp_path / "host.db"
    path.write_bytes(b"not a database at all" * 100)
    with pytest.raises(OSError, match=r"host\.db"):
        list(SessionRows(str(path), "s", walk).chunks())
    with pytest.raises(OSError, match=r"gone\.db"):
        list(SessionRows(str(tmp_path / "gone.db"), "s", walk).chunks())
    assert not os.path.exists(tmp_path / "gone.db")


def test_a_log_in_a_read_only_folder_is_left_out_and_said_so(tmp_path, monkeypatch):
    path = tmp_path / "host.db"
    make(path).close()
    (tmp_path / "host.db-wal").write_bytes(b"x" * 100)
    real = apsw.Connection

    def refusing(name, *arguments, **options):
        if "mode=ro" in name:
            raise apsw.CantOpenError("unable to open database file")
        return real(name, *arguments, **options)

    monkeypatch.setattr(apsw, "Connection", refusing)
    monkeypatch.setattr(os, "access", lambda *_: False)
    notes: list[str] = []
    with foreign_reader(str(path), notes) as connection:
        assert connection.execute("select count(*) from item").fetchone() == (3,)
    assert "read-only" in notes[0]


def test_text_that_is_not_unicode_is_an_os_error(tmp_path):
    path = tmp_path / "host.db"
    owner = make(path, 0)
    owner.execute("insert into item values('s', 1, cast(x'ff' as text))")
    owner.close()
    with pytest.raises(OSError, match=r"host\.db"):
        list(SessionRows(str(path), "s", walk).chunks())
