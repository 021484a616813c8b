"""Rows are parted by bits just as one by one."""

from __future__ import annotations

import apsw
from hypothesis import given
from hypothesis import strategies as st

from fabula.memory.index.schema import LIVE_TEXT, TEXT_COLUMNS
from fabula.memory.retrieval import lexical
from fabula.memory.retrieval.lexical import LexicalArm
from fabula.memory.retrieval.parting import as_bits, parted, rows_in
from fabula.memory.retrieval.question import read_question

ROWS = st.frozensets(st.integers(0, 300))
WORDS = ("beacon", "harbour", "lantern", "quarry")


@given(ROWS)
def test_rows_come_back_from_bits_in_order(rows: frozenset[int]) -> None:
    assert list(rows_in(as_bits(rows))) == sorted(rows)


@given(st.lists(ROWS, max_size=6), ROWS)
def test_each_row_that_holds_a_unit_is_in_the_part_of_just_its_units(
    units: list[frozenset[int]], among: frozenset[int]
) -> None:
    expected: dict[int, set[int]] = {}
    for row in among:
        kind = sum(1 << unit for unit, held in enumerate(units) if row in held)
        if kind:
            expected.setdefault(kind, set()).add(row)
    parts = parted([as_bits(one) for one in units], as_bits(among))
    assert {kind: set(rows_in(rows)) for kind, rows in parts.items()} == expected


@given(
    st.lists(st.sets(st.sampled_from(WORDS)), min_size=1, max_size=12),
    st.sampled_from(["beacon harbour", '"beacon harbour"', "beacon -quarry", "lantern quarry beacon harbour"]),
    st.frozensets(st.integers(1, 12)),
)
def test_short_and_long_questions_are_answered_alike(
    texts: list[set[str]], question: str, allowed: frozenset[int]
) -> None:
    connection = apsw.Connection(":memory:")
    connection.execute("create table files(id integer primary key)")
    columns = ", ".join(name for name, _ in TEXT_COLUMNS)
    connection.execute(f"create virtual table {LIVE_TEXT} using fts5({columns})")
    first = TEXT_COLUMNS[0][0]
    for row, words in enumerate(texts, 1):
        connection.execute("insert into files values(?)", (row,))
        connection.execute(f"insert into {LIVE_TEXT}(rowid, {first}) values(?, ?)", (row, " ".join(sorted(words))))
    asked = read_question(question)
    answers = []
    for most in (lexical.SHORT, 0):
        arm = LexicalArm(connection)
        arm.forget()
        before = lexical.SHORT
        try:
            lexical.SHORT = most  # type: ignore[misc]
            answers.append(arm.ask(asked, allowed, archived=False))
        finally:
            lexical.SHORT = before  # type: ignore[misc]
    short, long = answers
    assert short == long
