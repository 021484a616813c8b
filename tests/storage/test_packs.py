"""Packs on disk."""

from __future__ import annotations

import errno
import os
import random
from hashlib import sha256
from pathlib import Path

import pytest

from fabula.kernel.errors import FabulaError
from fabula.storage import packs, packs_format
from fabula.storage.packs import Frame, PackReader, PackWriter
from fabula.storage.packs_codec import Compressor
from fabula.storage.packs_format import HEADER_BYTES, FramePlace, PackClass

OWNER = b"o" * 16


def table_of(records: list[bytes]) -> list[tuple[bytes, int]]:
    return [(sha256(record).digest(), len(record)) for record in records]


def write_pack(path: Path, frames: list[list[bytes]], *, finish: bool = False) -> list[FramePlace]:
    writer = PackWriter.create(path, PackClass.RECORDS, OWNER, Compressor())
    for records in frames:
        writer.append(table_of(records), b"".join(records))
    if finish:
        writer.finish()
    writer.sync()
    writer.close()
    return writer.places


def walk(path: Path, end: int | None = None) -> list[Frame | str]:
    reader = PackReader(path)
    try:
        return list(reader.walk(reader.size() if end is None else end))
    finally:
        reader.close()


FRAMES = [[b"first", b"second " * 40], [b"third"], [random.Random(7).randbytes(5000), b"", b"x"]]


def test_frames_are_read_back_by_their_place(tmp_path: Path) -> None:
    path = tmp_path / "p.pack"
    places = write_pack(path, FRAMES)
    reader = PackReader(path)
    assert reader.header() == (PackClass.RECORDS, OWNER)
    for records, place in zip(FRAMES, places, strict=True):
        frame = reader.frame(place.offset, place.length)
        assert (frame.content, frame.table) == (b"".join(records), table_of(records))
        assert frame.crc == place.crc
    reader.close()


def test_a_pack_is_private(tmp_path: Path) -> None:
    write_pack(tmp_path / "p.pack", FRAMES)
    assert (tmp_path / "p.pack").stat().st_mode & 0o777 == 0o600


def test_a_record_of_many_megabytes_is_written_in_pieces(tmp_path: Path) -> None:
    record = random.Random(3).randbytes(5 << 20)
    places = write_pack(tmp_path / "p.pack", [[b"before"], [record], [b"after"]])
    reader = PackReader(tmp_path / "p.pack")
    assert [reader.frame(p.offset, p.length).content for p in places] == [b"before", record, b"after"]
    reader.close()


def test_a_pack_is_continued_at_its_valid_length_and_what_lies_beyond_is_cut(tmp_path: Path) -> None:
    path = tmp_path / "p.pack"
    places = write_pack(path, FRAMES)
    kept = places[:2]
    writer = PackWriter(path, kept[-1].offset + kept[-1].length, list(kept), Compressor())
    writer.append(table_of([b"instead"]), b"instead")
    writer.close()
    assert [f.content for f in walk(path) if isinstance(f, Frame)] == [b"first" + b"second " * 40, b"third", b"instead"]


def test_a_pack_that_lost_bytes_is_not_continued(tmp_path: Path) -> None:
    path = tmp_path / "p.pack"
    write_pack(path, FRAMES)
    with pytest.raises(ValueError, match="bytes"):
        PackWriter(path, path.stat().st_size + 1, [], Compressor())


def test_a_new_pack_never_replaces_a_file(tmp_path: Path) -> None:
    path = tmp_path / "p.pack"
    path.write_bytes(b"somebody's")
    with pytest.raises(FabulaError, match="exists"):
        PackWriter.create(path, PackClass.RECORDS, OWNER, Compressor())
    assert path.read_bytes() == b"somebody's"


def test_closing_with_a_length_takes_back_what_was_written(tmp_path: Path) -> None:
    path = tmp_path / "p.pack"
    writer = PackWriter.create(path, PackClass.RECORDS, OWNER, Compressor())
    writer.append(table_of([b"record"]), b"record")
    writer.close(keep=HEADER_BYTES)
    assert path.stat().st_size == HEADER_BYTES


def test_a_closed_pack_has_a_footer_that_names_its_frames(tmp_path: Path) -> None:
    path = tmp_path / "p.pack"
    places = write_pack(path, FRAMES, finish=True)
    reader = PackReader(path)
    assert reader.footer(reader.size()) == places
    reader.close()
    assert [f.offset for f in walk(path) if isinstance(f, Frame)] == [p.offset for p in places]


@pytest.mark.parametrize("end", [0, HEADER_BYTES, HEADER_BYTES + 30])
def test_a_pack_without_a_footer_is_known_to_have_none(tmp_path: Path, end: int) -> None:
    path = tmp_path / "p.pack"
    write_pack(path, FRAMES)
    reader = PackReader(path)
    with pytest.raises(ValueError, match="footer"):
        reader.footer(end)
    reader.close()


def test_a_footer_that_points_outside_the_pack_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "p.pack"
    write_pack(path, FRAMES, finish=True)
    data = bytearray(path.read_bytes())
    data[-16:-8] = (1 << 40).to_bytes(8, "little")
    path.write_bytes(data)
    reader = PackReader(path)
    with pytest.raises(ValueError, match="footer is damaged"):
        reader.footer(len(data))
    reader.close()


@pytest.mark.parametrize("cut", [1, 20, 31, 32, 60])
def test_an_unfinished_tail_is_recognised(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "p.pack"
    places = write_pack(path, FRAMES)
    with path.open("r+b") as file:
        file.truncate(places[-1].offset + cut)
    *whole, tail = walk(path)
    assert [f.offset for f in whole if isinstance(f, Frame)] == [p.offset for p in places[:-1]]
    assert isinstance(tail, str)
    assert "cut off" in tail


@pytest.mark.parametrize("damage", ["magic", "length", "payload", "table", "zeros"])
def test_damage_in_one_frame_costs_no_other(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "p.pack"
    places = write_pack(path, FRAMES, finish=True)
    data = bytearray(path.read_bytes())
    place = places[1]
    at = {"magic": 0, "length": 10, "payload": place.length - 3, "table": 40, "zeros": 0}[damage]
    if damage == "zeros":
        data[place.offset : place.offset + place.length] = bytes(place.length)
    else:
        data[place.offset + at] ^= 0x10
    path.write_bytes(data)
    found = walk(path)
    assert [f.offset for f in found if isinstance(f, Frame)] == [places[0].offset, places[2].offset]
    assert any(isinstance(f, str) and f"at byte {place.offset}" in f for f in found)


def test_a_table_that_does_not_add_up_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "p.pack"
    writer = PackWriter.create(path, PackClass.RECORDS, OWNER, Compressor())
    place = writer.append([(bytes(32), 3)], b"four")
    writer.close()
    reader = PackReader(path)
    with pytest.raises(ValueError, match="add up"):
        reader.frame(place.offset, place.length)
    reader.close()


def test_reading_works_where_the_system_has_no_pread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_pack(tmp_path / "p.pack", FRAMES)
    monkeypatch.delattr(os, "pread")
    assert len(walk(tmp_path / "p.pack")) == len(FRAMES)


def test_a_full_disk_is_said_to_be_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    writer = PackWriter.create(tmp_path / "p.pack", PackClass.RECORDS, OWNER, Compressor())

    def refuse(handle: int, data: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(packs.os, "write", refuse)
    with pytest.raises(FabulaError) as caught:
        writer.append(table_of([b"record"]), b"record")
    assert caught.value.code == "ERR_DISK"
    writer.close(keep=HEADER_BYTES)


def test_a_write_that_takes_only_a_part_is_continued(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write = os.write
    monkeypatch.setattr(packs.os, "write", lambda handle, data: write(handle, bytes(data)[:7]))
    places = write_pack(tmp_path / "p.pack", FRAMES)
    monkeypatch.undo()
    assert [f.offset for f in walk(tmp_path / "p.pack") if isinstance(f, Frame)] == [p.offset for p in places]


def test_the_record_limit_fits_the_format() -> None:
    assert len(packs_format.encode_table([(bytes(32), packs_format.RECORD_LIMIT)])) == packs_format.ENTRY_BYTES
