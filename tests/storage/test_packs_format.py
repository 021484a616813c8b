"""The byte form of packs."""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable
from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabula.storage import packs_format as form
from fabula.storage.packs_codec import Compressor, decompress

OWNER = bytes(range(16))


def frame_of(records: list[bytes]) -> bytes:
    table = form.encode_table([(sha256(record).digest(), len(record)) for record in records])
    payload = Compressor().compress(b"".join(records))
    content = sum(map(len, records))
    head, _ = form.encode_frame_header(len(records), content, len(payload), zlib.crc32(payload, zlib.crc32(table)))
    return head + table + payload


def test_a_header_says_class_and_owner() -> None:
    data = form.encode_header(form.PackClass.IMAGES, OWNER)
    assert len(data) == form.HEADER_BYTES
    assert form.decode_header(data) == (form.PackClass.IMAGES, OWNER)


def test_a_header_of_a_newer_format_is_named_as_such() -> None:
    head = form.MAGIC + bytes([form.VERSION + 1, 0]) + OWNER
    with pytest.raises(ValueError, match=f"format {form.VERSION + 1}"):
        form.decode_header(head + zlib.crc32(head).to_bytes(4, "little"))


@given(st.lists(st.binary(min_size=1, max_size=300), min_size=1, max_size=20))
def test_a_frame_gives_back_its_records(records: list[bytes]) -> None:
    header, table, payload = form.split_frame(frame_of(records))
    rows = form.decode_table(table)
    assert [length for _, length in rows] == [len(record) for record in records]
    assert decompress(payload, header.content) == b"".join(records)


def read_footer(data: bytes) -> tuple[int, list[form.FramePlace]]:
    return form.footer_start(data[-form.END_BYTES :]), form.decode_footer(data)


@pytest.mark.parametrize(
    ("data", "read"),
    [
        (form.encode_header(form.PackClass.RECORDS, OWNER), form.decode_header),
        (frame_of([b"one", b"two" * 50]), form.split_frame),
        (form.encode_footer([form.FramePlace(28, 100, 2, 7)], 128), read_footer),
    ],
)
def test_every_flipped_bit_is_found(data: bytes, read: Callable[[bytes], object]) -> None:
    sound = read(data)
    for bit in range(len(data) * 8):
        broken = bytearray(data)
        broken[bit // 8] ^= 1 << bit % 8
        try:
            found = read(bytes(broken))
        except ValueError:
            continue
        assert found != sound, f"bit {bit} changes nothing"
        assert read is read_footer, f"bit {bit} was not found"  # where it begins is checked against the pack


@pytest.mark.parametrize("cut", [0, 3, form.FRAME_HEADER_BYTES - 1, form.FRAME_HEADER_BYTES, -1])
def test_a_frame_that_is_cut_off_is_no_frame(cut: int) -> None:
    with pytest.raises(ValueError, match="cut off"):
        form.split_frame(frame_of([b"record"])[:cut])


def test_a_footer_names_every_frame() -> None:
    places = [form.FramePlace(28, 100, 2, 7), form.FramePlace(128, 50, 1, 9)]
    data = form.encode_footer(places, 178)
    assert len(data) == form.footer_bytes(2)
    assert form.footer_start(data[-form.END_BYTES :]) == 178
    assert form.decode_footer(data) == places


def test_bytes_without_an_end_mark_are_no_footer() -> None:
    with pytest.raises(ValueError, match="no footer"):
        form.footer_start(os.urandom(form.END_BYTES))


def test_a_payload_of_another_length_is_refused() -> None:
    payload = Compressor().compress(b"x" * 1000)
    for length in (0, 999, 1001):
        with pytest.raises(ValueError, match="bytes"):
            decompress(payload, length)
    with pytest.raises(ValueError, match="zstd"):
        decompress(b"no zstd at all", 10)
    with pytest.raises(ValueError, match="bytes"):
        decompress(payload + b"more", 1000)


def test_pieces_of_a_large_content_are_one_frame() -> None:
    content = os.urandom(3 << 20) + b"y" * (1 << 20)
    compressor = Compressor()
    for _ in range(2):  # the compressor is as new after each frame
        assert decompress(b"".join(compressor.pieces(content)), len(content)) == content
    assert decompress(compressor.compress(b"small"), 5) == b"small"
