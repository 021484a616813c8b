"""Rows of files: a path comes back as it was given, whatever it looks like."""

from __future__ import annotations

from pathlib import Path

import apsw
from hypothesis import given
from hypothesis import strategies as st

from fabula.kernel.records import SourceFile
from fabula.record.map.files import all_files, all_stats, file_at, forget_row, insert_file, retire, stat_of
from fabula.record.map.schema import SCHEMA
from fabula.record.map.store import open_map

PATHS = st.text(st.sampled_from("ab/\\. #é\n"), min_size=1, max_size=12)


def described(path: str, generation: int = -1, kind: str = "session") -> SourceFile:
    return SourceFile("claude", path, kind, "S", 10, 1, 2, 3, generation=generation)


def fresh_map() -> apsw.Connection:
    connection = apsw.Connection("")
    connection.execute(SCHEMA)
    return connection


@given(st.sets(st.tuples(PATHS, st.sampled_from([-1, 0, 2])), max_size=12))
def test_every_file_is_found_by_its_path_and_generation_and_by_nothing_else(files: set[tuple[str, int]]) -> None:
    connection = fresh_map()
    rows = {key: insert_file(connection, described(*key), 7, 99).id for key in sorted(files)}
    assert {(known.path, known.generation): known.id for known in all_files(connection)} == rows
    assert {key: stat.id for key, stat in all_stats(connection).by_file.items()} == rows
    for path, generation in files:
        known = file_at(connection, path, generation)
        assert known is not None
        assert (known.id, known.path) == (rows[path, generation], path)
        assert stat_of(connection, path, generation + 5) is None
        assert file_at(connection, path + "x", generation) is None


def test_files_of_one_folder_name_it_once(tmp_path: Path) -> None:
    connection = open_map(tmp_path / "map.db")
    for name in ("one", "two"):
        insert_file(connection, described(f"/deep/down/{name}.jsonl"), 1, 1)
    assert list(connection.execute("select path from folders")) == [("/deep/down/",)]
    assert list(connection.execute("select count(*) from file_kinds")) == [(1,)]


def test_files_that_were_retired_or_forgotten_are_not_live() -> None:
    connection = fresh_map()
    kept, retired, forgotten = (insert_file(connection, described(f"/p/{name}"), 1, 1) for name in "abc")
    retire(connection, retired, 0)
    forget_row(connection, forgotten)
    stats = all_stats(connection)
    assert stats.live == {kept.id}
    assert set(stats.by_file) == {("/p/a", -1), ("/p/b", 0)}
