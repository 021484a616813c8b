"""A file that is one value."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.record.containers.whole_file import WholeFile

if TYPE_CHECKING:
    from pathlib import Path


def test_a_file_is_one_value_with_its_text(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"h\xc3\xa9\xff\n")
    (chunk,) = WholeFile(str(path)).chunks()
    (value,) = chunk.values
    assert (value.offset, value.length, value.value) == (0, 5, {"text": "hé�\n"})
    assert chunk.data == path.read_bytes()


def test_a_binary_file_has_no_text_and_an_empty_one_no_value(tmp_path: Path) -> None:
    (tmp_path / "b").write_bytes(b"\x89PNG\0\0")
    (chunk,) = WholeFile(str(tmp_path / "b")).chunks()
    assert chunk.values[0].value == {"text": ""}
    (tmp_path / "e").touch()
    assert list(WholeFile(str(tmp_path / "e")).chunks()) == []


def test_a_long_file_becomes_pieces_cut_at_line_ends(tmp_path: Path) -> None:
    path = tmp_path / "long"
    path.write_bytes(b"one\ntwo\n" + b"x" * 20 + b"\nend")
    chunks = list(WholeFile(str(path), piece_bytes=10).chunks())
    assert [chunk.data for chunk in chunks] == [b"one\ntwo\n", b"x" * 10, b"x" * 10, b"\nend"]
    assert b"".join(chunk.data for chunk in chunks) == path.read_bytes()
    assert [chunk.offset for chunk in chunks] == [0, 8, 18, 28]


def test_what_is_appended_becomes_a_value_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"one\n")
    list(WholeFile(str(path)).chunks())
    path.write_bytes(b"one\ntwo\n")
    (chunk,) = WholeFile(str(path)).chunks(4)
    assert (chunk.offset, chunk.values[0].value) == (4, {"text": "two\n"})
