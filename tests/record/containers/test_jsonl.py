"""JSON lines: every value with its exact span, whatever the bytes around it."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pytest

from fabula.record.containers import json_scan
from fabula.record.containers.jsonl import JsonLines

if TYPE_CHECKING:
    from pathlib import Path

    from fabula.record.sources import Found


def read(path: Path, data: bytes, **options: int) -> tuple[list[Found], JsonLines, int]:
    """Write the bytes, read them, check the accounting; return (values, container, unreadable bytes)."""
    path.write_bytes(data)
    container = JsonLines(str(path), **options)
    values: list[Found] = []
    at = unreadable = 0
    for chunk in container.chunks():
        assert chunk.offset == at
        at += len(chunk.data)
        assert chunk.data == data[chunk.offset : at]
        assert sum(value.length for value in chunk.values) + chunk.unreadable <= len(chunk.data)
        values += chunk.values
        unreadable += chunk.unreadable
    assert at + container.waiting == len(data)
    return values, container, unreadable


def spans(values: list[Found], data: bytes) -> list[bytes]:
    return [data[value.offset : value.offset + value.length] for value in values]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "session.jsonl"


def test_three_lines_give_three_values_whose_spans_parse_alone(file: Path) -> None:
    data = b'{"n":1}\n{"n":2}\n{"n":3}\n'
    values, _, _ = read(file, data)
    assert [value.value for value in values] == [{"n": 1}, {"n": 2}, {"n": 3}]
    assert [json.loads(span) for span in spans(values, data)] == [{"n": 1}, {"n": 2}, {"n": 3}]


def test_objects_on_one_line_are_each_found(file: Path) -> None:
    data = b'{"n":0}\n{"uuid":"a"}{"uuid":"b"} {"uuid":"c"}\n'
    values, _, unreadable = read(file, data)
    assert spans(values, data) == [b'{"n":0}', b'{"uuid":"a"}', b'{"uuid":"b"}', b'{"uuid":"c"}']
    assert unreadable == 0
    assert not any(value.recovered for value in values)


def test_a_damaged_line_costs_only_itself(file: Path) -> None:
    values, _, unreadable = read(file, b'{"n":1}\n{"n":,}\n{"n":3}\n')
    assert [value.value for value in values] == [{"n": 1}, {"n": 3}]
    assert unreadable == len(b'{"n":,}')


def test_what_follows_damage_on_a_line_is_recovered(file: Path) -> None:
    data = b'{"n":1,"torn":"te{"n":2} x {"n":3}\n'
    values, _, unreadable = read(file, data)
    assert [(value.value, value.recovered) for value in values] == [({"n": 2}, True), ({"n": 3}, True)]
    assert unreadable == len(b'{"n":1,"torn":"te') + len(b"x")


@pytest.mark.parametrize("blank", [b"", b" ", b"\t \r", b"\r"])
def test_blank_lines_hold_nothing(file: Path, blank: bytes) -> None:
    values, _, unreadable = read(file, blank + b"\n" + b'{"n":1}\n' + blank + b"\n")
    assert [value.value for value in values] == [{"n": 1}]
    assert unreadable == 0


def test_blanks_around_a_value_are_not_part_of_its_span(file: Path) -> None:
    data = b'  {"n":1}\t \r\n\t{"n":2} {"n":3}\r\n'
    values, _, _ = read(file, data)
    assert spans(values, data) == [b'{"n":1}', b'{"n":2}', b'{"n":3}']


def test_a_last_line_without_line_feed_is_taken_when_it_is_whole(file: Path) -> None:
    data = b'{"n":1}\n {"n":2}{"n":3} '
    values, container, _ = read(file, data)
    assert spans(values, data) == [b'{"n":1}', b'{"n":2}', b'{"n":3}']
    assert (container.waiting, container.tail) == (0, b"")


@pytest.mark.parametrize("torn", [b'{"n":2', b'{"n":2}{"n":', b'{"s":"\xf0\x9f', b'{"s":"\\ud83d', b"\0\0", b'"abc'])
def test_a_torn_last_line_waits_until_it_is_completed(file: Path, torn: bytes) -> None:
    data = b'{"n":1}\n' + torn
    values, container, unreadable = read(file, data)
    assert [value.value for value in values] == [{"n": 1}]
    assert (container.waiting, container.tail, unreadable) == (len(torn), torn, 0)


def test_a_completed_line_is_read_from_where_it_began(file: Path) -> None:
    read(file, b'{"n":1}\n{"n":')
    file.write_bytes(b'{"n":1}\n{"n":2}\n{"n":3}')
    container = JsonLines(str(file))
    (chunk,) = container.chunks(8)
    assert (chunk.offset, chunk.data) == (8, b'{"n":2}\n{"n":3}')
    assert [(value.offset, value.value) for value in chunk.values] == [(8, {"n": 2}), (16, {"n": 3})]


def test_a_lone_surrogate_at_a_lines_end_is_not_taken_for_a_torn_line(file: Path) -> None:
    values, container, _ = read(file, b'{"s":"x\\ud800"}\n{"n":2}\n')
    assert [value.value for value in values] == [{"s": "x�"}, {"n": 2}]
    assert container.waiting == 0


def test_a_surrogate_pair_on_the_careful_path_stays_a_character(file: Path) -> None:
    values, _, _ = read(file, b'{"s":"\\ud83d\\ude00"}{"s":"\xf0\x9f\x98\x80"}\n')
    assert [value.value["s"] for value in values] == ["😀", "😀"]


def test_invalid_utf8_is_read_with_exact_spans(file: Path) -> None:
    data = b'{"n":1}\n{"s":"a\xffb","k\xfe":2} {"t":"\xc3\xa9\xff"}\n{"n":3}\n'
    values, _, _ = read(file, data)
    assert spans(values, data) == [b'{"n":1}', b'{"s":"a\xffb","k\xfe":2}', b'{"t":"\xc3\xa9\xff"}', b'{"n":3}']
    json.dumps([value.value for value in values], ensure_ascii=False).encode()  # every text can be stored


def test_scripts_beyond_ascii_count_in_bytes(file: Path) -> None:
    data = '{"s":"नमस्ते 😀"}{"s":"漢字"} {"s":"é"}\n{"n":1}\n'.encode()
    values, _, _ = read(file, data)
    assert [json.loads(span) for span in spans(values, data)] == [value.value for value in values]


def test_line_and_paragraph_separators_end_no_line(file: Path) -> None:
    values, _, _ = read(file, '{"s":"a\u2028b\u2029c\x85d"}\n'.encode())
    assert [value.value["s"] for value in values] == ["a\u2028b\u2029c\x85d"]


def test_numbers_that_only_python_accepts_are_read(file: Path) -> None:
    values, _, _ = read(file, b'{"a":NaN,"b":-Infinity,"c":1e999,"d":123456789012345678901234567890}\n')
    assert str(values[0].value["a"]) == "nan"
    assert values[0].value["d"] == 123456789012345678901234567890


def test_a_byte_order_mark_is_damage_and_what_follows_it_is_recovered(file: Path) -> None:
    data = b'\xef\xbb\xbf{"n":1}\n\xef\xbb\xbf{"n":2}\n'
    values, _, unreadable = read(file, data)
    assert [(value.offset, value.recovered) for value in values] == [(3, True), (14, True)]
    assert unreadable == 6


def test_carriage_returns_are_gaps(file: Path) -> None:
    data = b'{"n":1}\r\n{"n":2}\r\n'
    values, _, unreadable = read(file, data)
    assert spans(values, data) == [b'{"n":1}', b'{"n":2}']
    assert unreadable == 0


def test_nul_bytes_are_unreadable_and_cost_no_neighbour(file: Path) -> None:
    values, _, unreadable = read(file, b'{"n":1}\n\0\0\0\0{"n":2}\n\0\n{"n":3}\n')
    assert [value.value["n"] for value in values] == [1, 2, 3]
    assert unreadable == 5


def test_values_that_are_no_objects_are_found(file: Path) -> None:
    values, _, _ = read(file, b'[]\n"s"\n7\nnull\n{"n":1}\n')
    assert [value.value for value in values] == [[], "s", 7, None, {"n": 1}]


@pytest.mark.parametrize("depth", [1200, 100_000])
@pytest.mark.parametrize("form", [(b'{"a":', b"}"), (b"[", b"]")])
def test_deep_nesting_is_one_value_and_harms_no_neighbour(file: Path, depth: int, form: tuple[bytes, bytes]) -> None:
    deep = form[0] * depth + b"1" + form[1] * depth
    data = b'{"n":1}\n{"n":2}' + deep + b'{"n":3}\n{"n":4}\n'
    values, _, unreadable = read(file, data)
    assert [len(span) for span in spans(values, data)] == [7, 7, len(deep), 7, 7]
    assert unreadable == 0


def test_unfinished_deep_nesting_ends_in_time(file: Path) -> None:
    data = b'{"a":' * 60_000 + b"\n" + b'{"n":1}\n'
    values, _, _ = read(file, data)
    assert values[-1].value == {"n": 1}


@pytest.mark.parametrize("opening", [b"{", b'{"', b'{"a":', b'{"a":["', b"{ "])
def test_a_line_of_openings_ends_in_time(file: Path, opening: bytes) -> None:
    values, _, unreadable = read(file, opening * 100_000 + b"x\n" + b'{"n":1}\n')
    assert [value.value for value in values] == [{"n": 1}]
    assert unreadable == len(opening) * 100_000 + 1


def test_an_empty_file_has_no_chunks(file: Path) -> None:
    values, container, _ = read(file, b"")
    assert values == []
    assert container.waiting == 0


def test_small_chunks_find_the_same_as_large_ones(file: Path) -> None:
    data = b"".join(b'{"n":%d,"s":"%s"}\n' % (n, b"x" * (n % 97)) for n in range(300)) + b'{"torn'
    large, _, _ = read(file, data)
    for size in (1, 50, 1000):
        small, container, _ = read(file, data, chunk_bytes=size)
        assert small == large
        assert container.tail == b'{"torn'


def test_a_file_that_shrinks_while_it_is_read_ends_early(file: Path) -> None:
    line = b'{"n":1}\n'
    file.write_bytes(line * 1000)
    container = JsonLines(str(file), chunk_bytes=800)
    chunks = container.chunks()
    taken = len(next(chunks).data)
    os.truncate(file, 804)
    taken += sum(len(chunk.data) for chunk in chunks)
    assert taken + container.waiting == 804
    assert container.tail == b'{"n"'


def test_a_file_that_vanishes_while_it_is_read_is_read_to_its_end(file: Path) -> None:
    file.write_bytes(b'{"n":1}\n' * 1000)
    chunks = JsonLines(str(file), chunk_bytes=800).chunks()
    first = next(chunks)
    file.unlink()
    assert len(first.data) + sum(len(chunk.data) for chunk in chunks) == 8000


def test_a_file_that_is_replaced_while_it_is_read_is_read_as_it_was(file: Path) -> None:
    file.write_bytes(b'{"n":1}\n' * 1000)
    chunks = JsonLines(str(file), chunk_bytes=800).chunks()
    values = list(next(chunks).values)
    other = file.with_name("new")
    other.write_bytes(b'{"n":2}\n' * 10)
    other.replace(file)
    values += [value for chunk in chunks for value in chunk.values]
    assert [value.value for value in values] == [{"n": 1}] * 1000


def test_a_file_that_is_rewritten_in_place_while_it_is_read_is_still_accounted_for(file: Path) -> None:
    file.write_bytes(b'{"n":1}\n' * 1000)
    container = JsonLines(str(file), chunk_bytes=800)
    chunks = container.chunks()
    at = len(next(chunks).data)
    file.write_bytes(b'{"rewritten":true}\n' * 500)
    for chunk in chunks:
        assert chunk.offset == at
        assert sum(value.length for value in chunk.values) + chunk.unreadable <= len(chunk.data)
        at += len(chunk.data)
    assert at + container.waiting == 8000


def test_what_is_appended_while_reading_is_left_for_the_next_scan(file: Path) -> None:
    file.write_bytes(b'{"n":1}\n' * 300)
    chunks = JsonLines(str(file), chunk_bytes=800).chunks()
    first = next(chunks)
    with file.open("ab") as more:
        more.write(b'{"n":2}\n' * 1000)
    assert len(first.data) + sum(len(chunk.data) for chunk in chunks) == 2400


def test_reading_behind_the_end_of_a_shrunk_file_gives_nothing(file: Path) -> None:
    file.write_bytes(b'{"n":1}\n')
    assert list(JsonLines(str(file)).chunks(500)) == []


def test_a_missing_file_is_an_error_of_the_file_system(file: Path) -> None:
    with pytest.raises(FileNotFoundError):
        list(JsonLines(str(file)).chunks())


def test_a_pipe_or_a_folder_is_refused_without_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.jsonl")
    for path in (tmp_path / "pipe.jsonl", tmp_path):
        with pytest.raises(OSError, match=r"not a regular file|directory"):
            list(JsonLines(str(path)).chunks())


def test_a_line_longer_than_a_chunk_makes_a_longer_chunk(file: Path) -> None:
    data = b'{"n":1}\n{"s":"' + b"x" * 5000 + b'"}\n{"n":3}\n'
    values, _, _ = read(file, data, chunk_bytes=64)
    assert [len(span) for span in spans(values, data)] == [7, 5008, 7]


def test_a_very_long_line_keeps_its_ids_and_short_texts_but_not_its_long_ones(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(json_scan, "WHOLE_LIMIT", 200_000)
    long = {"uuid": "u", "message": {"content": [{"text": "short"}, {"data": "x" * 300_000}]}, "tail": 'q"\\é'}
    data = b'{"n":1}\n' + json.dumps(long, ensure_ascii=False).encode() + b' {"n":2}\n{"n":3}\n'
    values, _, unreadable = read(file, data)
    assert values[1].value == {"uuid": "u", "message": {"content": [{"text": "short"}, {"data": ""}]}, "tail": 'q"\\é'}
    assert [value.value for value in values[2:]] == [{"n": 2}, {"n": 3}]
    assert unreadable == 0


@pytest.mark.slow
def test_a_line_of_100_mb_is_read_in_about_its_own_size(file: Path) -> None:
    import tracemalloc

    size = 100 << 20
    with file.open("wb") as out:
        out.write(b'{"n":1}\n{"uuid":"u","text":"')
        for _ in range(100):
            out.write(b"0123456\\n9abcdef" * (1 << 16))
        out.write(b'"}\n{"n":3}\n')
    tracemalloc.start()
    found: list[tuple[Any, int]] = []
    for chunk in JsonLines(str(file)).chunks():
        found += [(value.value, value.length) for value in chunk.values]
        del chunk
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert [value for value, _ in found] == [{"n": 1}, {"uuid": "u", "text": ""}, {"n": 3}]
    assert found[1][1] > size * 0.9
    assert peak < size * 1.1


def test_the_value_of_a_span_is_decoded_the_way_it_was_read(file: Path) -> None:
    data = b'{"n":1}{"s":"\xff\\ud800"}' + b'{"a":' * 2000 + b"1" + b"}" * 2000 + b"\n"
    values, _, _ = read(file, data)
    assert len(values) == 3
    for value, span in zip(values, spans(values, data), strict=True):
        assert json_scan.decode_value(span) == value.value


@pytest.mark.parametrize("raw", [b"", b"  ", b'{"a":1}{"b":2}', b'{"a":', b'{"a":1} x'])
def test_bytes_that_are_not_one_value_are_refused(raw: bytes) -> None:
    with pytest.raises(ValueError, match="not one JSON value"):
        json_scan.decode_value(raw)
