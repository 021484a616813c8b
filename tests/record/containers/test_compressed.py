"""Compressed JSON lines: the decompressed stream is what spans count, and damage costs only what lies behind it."""

from __future__ import annotations

import gzip
import json
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fabula.record.containers import compressed
from fabula.record.containers.compressed import CompressedJsonLines
from fabula.record.containers.jsonl import JsonLines

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

PACK = {".zst": zstd.compress, ".gz": lambda data: gzip.compress(data, mtime=0)}
lines = st.lists(st.dictionaries(st.text(max_size=4), st.text(max_size=30), max_size=3), max_size=12)


def write(folder, data, suffix):
    path = folder / f"rollout.jsonl{suffix}"
    path.write_bytes(data)
    return str(path)


def read(path, *, start=0, chunk_bytes=64):
    container = CompressedJsonLines(path, chunk_bytes)
    chunks = list(container.chunks(start))
    return container, chunks, [value for chunk in chunks for value in chunk.values]


@pytest.mark.parametrize("suffix", [".zst", ".gz"])
@settings(max_examples=40)
@given(lines, st.booleans(), st.data())
def test_the_stream_reads_like_the_plain_file_from_any_chunk(tmp_path_factory, suffix, objects, ended, draw):
    folder = tmp_path_factory.mktemp("compressed")
    plain = "\n".join(json.dumps(value) for value in objects).encode() + (b"\n" if ended and objects else b"")
    (folder / "plain.jsonl").write_bytes(plain)
    cut = draw.draw(st.integers(0, len(plain)))
    path = write(folder, PACK[suffix](plain[:cut]) + PACK[suffix](plain[cut:]), suffix)  # two frames
    expected = [value for chunk in JsonLines(str(folder / "plain.jsonl")).chunks() for value in chunk.values]
    container, chunks, found = read(path)
    assert found == expected
    assert b"".join(chunk.data for chunk in chunks) + container.tail == plain
    assert container.damage == ""
    if chunks:
        start = draw.draw(st.sampled_from([chunk.offset for chunk in chunks]))
        assert read(path, start=start)[2] == [value for value in expected if value.offset >= start]


@pytest.mark.parametrize("suffix", [".zst", ".gz"])
def test_of_a_cut_stream_whole_lines_are_kept_and_the_last_one_waits(tmp_path, suffix):
    plain = b"".join(json.dumps({"n": n, "noise": str(n * 7919 % 10007) * 20}).encode() + b"\n" for n in range(4000))
    packed = PACK[suffix](plain)
    container, chunks, found = read(write(tmp_path, packed[: len(packed) // 2], suffix), chunk_bytes=4096)
    assert [value.value["n"] for value in found] == list(range(len(found)))
    assert 0 < len(found) < 4000
    assert container.damage == "cut"
    assert (
        b"".join(chunk.data for chunk in chunks) + container.tail
        == plain[: sum(len(c.data) for c in chunks) + container.waiting]
    )


@pytest.mark.parametrize("suffix", [".zst", ".gz"])
def test_a_damaged_stream_keeps_what_came_before_and_says_why_it_ended(tmp_path, suffix):
    first, second = b'{"n":1}\n{"n":2}\n', b'{"n":3}\n'
    container, _, found = read(write(tmp_path, PACK[suffix](first) + b"\x00garbage" + PACK[suffix](second), suffix))
    assert [value.value["n"] for value in found] == [1, 2]
    assert container.damage not in ("", "cut")
    assert container.waiting == 0


def test_a_half_line_before_damage_is_unreadable(tmp_path):
    _, chunks, found = read(write(tmp_path, zstd.compress(b'{"n":1}\n{"n":') + b"garbage", ".zst"))
    assert [value.value["n"] for value in found] == [1]
    assert sum(chunk.unreadable for chunk in chunks) == len(b'{"n":')


def test_an_empty_file_has_no_chunks(tmp_path):
    container, chunks, _ = read(write(tmp_path, b"", ".zst"))
    assert (chunks, container.damage) == ([], "")


def test_a_line_that_never_ends_is_given_up(tmp_path, monkeypatch):
    monkeypatch.setattr(compressed, "LINE_LIMIT", 1 << 20)
    endless = b'{"n":"' + b"x" * (5 << 20) + b'"}\n{"n":2}\n'
    _, chunks, found = read(write(tmp_path, zstd.compress(endless), ".zst"), chunk_bytes=1 << 16)
    assert found[-1].value == {"n": 2}
    assert sum(chunk.unreadable for chunk in chunks) > 1 << 20
    assert b"".join(chunk.data for chunk in chunks) == endless


def test_a_missing_file_is_an_os_error(tmp_path):
    with pytest.raises(OSError, match="gone"):
        list(CompressedJsonLines(str(tmp_path / "gone.jsonl.zst")).chunks())
