"""SQLite's files, sealed."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

nacl = pytest.importorskip("nacl")

from fabula.storage import sealed_files as sealed  # noqa: E402
from fabula.storage.cipher import OVERHEAD, Cipher, UnsealError  # noqa: E402

CIPHER = Cipher(bytes(range(32)))
UNSEALED = apsw.vfs_names()[0]
CANARY = "canary of the quarry"


def connect(path: Path, **flags: int) -> apsw.Connection:
    return apsw.Connection(str(path), vfs=sealed.vfs_of(CIPHER), **flags)


def filled(path: Path, rows: int = 2000) -> apsw.Connection:
    connection = connect(path)
    connection.execute("pragma journal_mode=wal")
    connection.execute("create table notes(id integer primary key, text)")
    connection.execute("create virtual table words using fts5(text)")
    with connection:
        for number in range(rows):
            connection.execute("insert into notes values(?,?)", (number, f"{CANARY} {number}"))
            connection.execute("insert into words(rowid, text) values(?,?)", (number, f"{CANARY} {number}"))
    return connection


def raw(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_no_file_of_a_sealed_database_shows_what_it_holds(tmp_path: Path) -> None:
    connection = filled(tmp_path / "a.db")
    assert {"a.db", "a.db-wal", "a.db-shm"} == set(raw(tmp_path))
    for data in raw(tmp_path).values():
        assert not any(word in data for word in (b"canary", b"quarry", b"SQLite format", b"create table", b"notes"))
    assert connection.pragma("integrity_check") == "ok"
    connection.execute("pragma wal_checkpoint(truncate)")
    assert all(b"quarry" not in data for data in raw(tmp_path).values())
    connection.close()
    assert raw(tmp_path)["a.db"][: sealed.HEAD] == sealed.head(sealed.DATABASE, CIPHER.key_id)


def test_a_log_that_a_crash_left_is_recovered_up_to_its_last_whole_commit(tmp_path: Path) -> None:
    before, after = tmp_path / "before", tmp_path / "after"
    before.mkdir()
    connection = filled(before / "a.db", rows=50)
    connection.execute("pragma wal_checkpoint(truncate)")
    connection.execute("update notes set text='first' where id=1")
    whole = (before / "a.db-wal").stat().st_size
    connection.execute("update notes set text='second' where id=1")
    wal = (before / "a.db-wal").read_bytes()
    for cut in (len(wal), len(wal) - 1, whole + 1, whole + 70, whole, whole - 1, 100, 10):
        shutil.rmtree(after, ignore_errors=True)
        shutil.copytree(before, after, ignore=shutil.ignore_patterns("*-shm"))
        with open(after / "a.db-wal", "r+b") as file:
            file.truncate(cut)
        recovered = connect(after / "a.db")
        expected = "second" if cut == len(wal) else "first" if cut >= whole else f"{CANARY} 1"
        assert recovered.execute("select text from notes where id=1").fetchone()[0] == expected, cut
        assert recovered.pragma("integrity_check") == "ok"
        recovered.close()
    connection.close()


def test_a_first_page_that_a_crash_cut_in_two_is_given_back_by_the_log(tmp_path: Path) -> None:
    before, after = tmp_path / "before", tmp_path / "after"
    before.mkdir()
    connection = filled(before / "a.db", rows=50)
    connection.execute("create table more(x)")
    shutil.copytree(before, after, ignore=shutil.ignore_patterns("*-shm"))
    connection.close()
    with open(after / "a.db", "r+b") as file:
        file.seek(2000)
        file.write(bytes(1000))
    recovered = connect(after / "a.db")
    assert recovered.pragma("integrity_check") == "ok"
    assert recovered.execute("select count(*) from notes").fetchone() == (50,)
    recovered.close()


def test_a_flipped_bit_is_found(tmp_path: Path) -> None:
    filled(tmp_path / "a.db").close()
    data = bytearray((tmp_path / "a.db").read_bytes())
    for at in (sealed.HEAD + 3, len(data) // 2, len(data) - 1):
        data[at] ^= 1
        (tmp_path / "b.db").write_bytes(data)
        data[at] ^= 1
        connection = connect(tmp_path / "b.db")
        with pytest.raises(apsw.CorruptError):
            connection.execute("select (select sum(length(text)) from notes), * from pragma_integrity_check").fetchall()
        connection.close()


def test_pages_that_changed_places_are_found(tmp_path: Path) -> None:
    filled(tmp_path / "a.db").close()
    data = (tmp_path / "a.db").read_bytes()
    size = sealed.PAGE + OVERHEAD
    pages = [data[at : at + size] for at in range(sealed.HEAD, len(data), size)]
    pages[5], pages[6] = pages[6], pages[5]
    (tmp_path / "a.db").write_bytes(data[: sealed.HEAD] + b"".join(pages))
    connection = connect(tmp_path / "a.db")
    with pytest.raises(apsw.CorruptError):
        connection.execute("pragma integrity_check").fetchall()
    connection.close()


def test_another_key_opens_nothing(tmp_path: Path) -> None:
    filled(tmp_path / "a.db", rows=3).close()
    other = apsw.Connection(str(tmp_path / "a.db"), vfs=sealed.vfs_of(Cipher(bytes(32))))
    with pytest.raises(apsw.Error):
        other.execute("select * from notes").fetchall()
    other.close()


def test_readers_read_while_another_process_would_write_and_close_last(tmp_path: Path) -> None:
    writer = filled(tmp_path / "a.db", rows=5)
    reader = connect(tmp_path / "a.db", flags=apsw.SQLITE_OPEN_READONLY)
    assert reader.execute("select count(*) from notes").fetchone() == (5,)
    writer.execute("delete from notes where id=3")
    assert reader.execute("select count(*) from notes").fetchone() == (4,)
    writer.close()
    reader.close()
    again = connect(tmp_path / "a.db")
    assert again.execute("select count(*) from notes").fetchone() == (4,)
    again.close()


def test_a_plain_database_becomes_a_sealed_one_and_back(tmp_path: Path) -> None:
    plain = apsw.Connection(str(tmp_path / "p.db"), flags=6 | apsw.SQLITE_OPEN_URI)
    plain.execute("create table notes(text); insert into notes values('quarry')")
    plain.execute("vacuum into ?", (f"file:{tmp_path}/s.db?vfs={sealed.vfs_of(CIPHER)}",))
    plain.close()
    assert b"quarry" not in (tmp_path / "s.db").read_bytes()
    made = apsw.Connection(str(tmp_path / "s.db"), flags=6 | apsw.SQLITE_OPEN_URI, vfs=sealed.vfs_of(CIPHER))
    assert made.execute("select text from notes").fetchone() == ("quarry",)
    made.execute("vacuum into ?", (f"file:{tmp_path}/q.db?vfs={UNSEALED}",))
    made.execute("vacuum into ?", (str(tmp_path / "t.db"),))
    made.close()
    assert b"quarry" not in (tmp_path / "t.db").read_bytes()
    assert os.path.exists(tmp_path / "q.db")


@settings(max_examples=200)
@given(st.integers(0, 2_000_000))
def test_blocks_tile_a_file_and_its_disk(offset: int) -> None:
    for block_of, extent in ((sealed.page_block, sealed.page_extent), (sealed.log_block, sealed.log_extent)):
        number, start, size, disk = block_of(offset)
        following = block_of(start + size)
        assert start <= offset < start + size
        assert following[:2] == (number + 1, start + size)
        assert following[3] == disk + size + OVERHEAD
        assert extent(disk + size + OVERHEAD) == start + size
        assert extent(disk + size + OVERHEAD - 1) == start


def test_what_is_sealed_for_one_place_is_not_opened_at_another() -> None:
    piece = CIPHER.seal(b"text", b"here")
    assert CIPHER.open(piece, b"here") == b"text"
    assert CIPHER.seal(b"text", b"here") != piece
    for wrong, place in ((piece, b"there"), (piece[:-1], b"here"), (b"", b"here"), (bytes(50), b"here")):
        with pytest.raises(UnsealError):
            CIPHER.open(wrong, place)
