"""JSON lines, by properties: on any bytes the accounting is exact and agrees with a plain reference count."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from fabula.record.containers.jsonl import JsonLines

if TYPE_CHECKING:
    from pathlib import Path

RAW_DECODE = json.JSONDecoder().raw_decode
PIECES = st.sampled_from([
    b'{"a":1}', b'{"type":"user","message":{"content":"x"}}', b"[]", b"7", b"01", b"1e999", b"null", b'"s"', b"NaN",
    b"\n", b"\n", b"\n", b"\r\n", b" ", b"\t", b"\xff", b"\xf0\x9f\x98\x80", b"\xe2\x80\xa8", b"{", b"}", b"[", b"]",
    b'"', b"\\", b'\\ud800"', b'"\\ud83d\\ude00"', b"\0", b"\xef\xbb\xbf", b",", b":", b"x", b"\x0c", b"-", b"true",
    b'{"a":"\xff\xc3\xa9","b":[1,{"c":"\\ud800"}]}',
])  # fmt: skip
SOUP = st.one_of(st.lists(PIECES, max_size=24).map(b"".join), st.binary(max_size=200))
VALID = b'{"type":"user","uuid":"a","message":{"content":[{"type":"text","text":"h\xc3\xa9 \\ud83d\\ude00"}]}}\n' * 3


def reference(data: bytes) -> tuple[list[Any], int, bool]:
    """Count plainly: (values, how many after damage on their line, whether the last line is without damage)."""
    values: list[Any] = []
    recovered, damaged = 0, False
    for line in data.split(b"\n"):
        text, at, damaged = line.decode("utf-8", "surrogateescape"), 0, False
        found: list[Any] = []
        while (at := len(text) - len(text[at:].lstrip(" \t\r"))) < len(text):
            try:
                value, at = RAW_DECODE(text, at)
            except ValueError:
                damaged = True
                at = text.find("{", at + 1)
                if at < 0:
                    break
            else:
                found.append(value)
                recovered += damaged
        values.append(found)
    return values, recovered, damaged


def check(path: Path, data: bytes, chunk_bytes: int) -> None:
    path.write_bytes(data)
    container = JsonLines(str(path), chunk_bytes)
    at = behind = recovered = count = 0
    for chunk in container.chunks():
        assert chunk.offset == at
        assert chunk.data == data[at : at + len(chunk.data)]
        assert chunk.data
        at += len(chunk.data)
        length = 0
        for value in chunk.values:
            assert value.offset >= behind
            behind = value.offset + value.length
            length += value.length
            span = data[value.offset : behind]
            assert span == span.strip(b" \t\r\n")
            recovered += value.recovered
            count += 1
        assert behind <= at
        assert length + chunk.unreadable <= len(chunk.data)
    assert at + container.waiting == len(data)
    assert container.tail == data[at:]
    lines, expected_recovered, torn = reference(data)
    if not torn:
        assert (count, recovered) == (sum(map(len, lines)), expected_recovered)
    else:  # a damaged last line waits: nothing of it is counted
        assert count == sum(map(len, lines[:-1]))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=400, deadline=None)
@given(SOUP, st.sampled_from([1, 7, 64, 1 << 20]))
@example(b'{"a":1}{"a":1', 1)
@example(b"\xef\xbb\xbf", 1)
def test_on_any_bytes_the_count_is_the_references(tmp_path: Path, data: bytes, chunk_bytes: int) -> None:
    check(tmp_path / "soup.jsonl", data, chunk_bytes)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=300, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, len(VALID) - 1), st.integers(0, 9), st.binary(max_size=3)), max_size=3),
    st.sampled_from([64, 1 << 20]),
)
def test_mutations_of_valid_lines_are_counted_like_the_reference(
    tmp_path: Path, edits: list[tuple[int, int, bytes]], chunk_bytes: int
) -> None:
    data = VALID
    for place, removed, added in edits:
        data = data[:place] + added + data[place + removed :]
    check(tmp_path / "mutated.jsonl", data, chunk_bytes)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=150, deadline=None)
@given(SOUP, SOUP)
def test_reading_on_after_growth_finds_what_reading_at_once_finds(tmp_path: Path, first: bytes, more: bytes) -> None:
    path = tmp_path / "grown.jsonl"
    path.write_bytes(first)
    container = JsonLines(str(path))
    found = [value for chunk in container.chunks() for value in chunk.values]
    read_to = len(first) - container.waiting
    if read_to and not first[:read_to].endswith(b"\n"):
        more = b"\n" + more  # a last line that was taken whole is whole: hosts go on behind its line feed
    path.write_bytes(first + more)
    found += [value for chunk in container.chunks(read_to) for value in chunk.values]
    whole = [value for chunk in JsonLines(str(path)).chunks() for value in chunk.values]
    assert [repr(value) for value in found] == [repr(value) for value in whole]
