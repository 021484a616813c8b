"""Whole-file JSON: elements by exact byte spans, whatever the document's layout or damage."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabula.record.containers import document
from fabula.record.containers.document import JsonDocument, end_of_value, read_document

MARKS = ("id", "type")
scalars = st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=12)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)
elements = st.dictionaries(st.text(min_size=1, max_size=6), values, max_size=4).map(
    lambda extra: {**extra, "id": "m1", "type": "user"}
)
heads = st.dictionaries(st.text(max_size=6).filter(lambda key: key != "messages"), values, max_size=3)


def document_bytes(before: dict, listed: list, after: dict, *, indent: int | None, escape: bool) -> bytes:
    rest = {key: value for key, value in after.items() if key not in before}
    return json.dumps({**before, "messages": listed, **rest}, indent=indent, ensure_ascii=escape).encode()


@given(heads, st.lists(elements, max_size=4), heads, st.sampled_from([None, 2]), st.booleans())
def test_every_element_is_found_at_its_own_bytes(before, listed, after, indent, escape):
    data = document_bytes(before, listed, after, indent=indent, escape=escape)
    chunk = read_document(data, "messages", MARKS)
    head, found = chunk.values[0], chunk.values[1:]
    assert [value.value for value in found] == listed
    assert [json.loads(data[v.offset : v.offset + v.length]) for v in found] == listed
    assert not head.counts
    assert head.value == {**before, **{key: value for key, value in after.items() if key not in before}}
    assert chunk.unreadable == 0
    assert chunk.data == data


@given(st.lists(elements, max_size=4), st.data())
def test_a_document_cut_anywhere_gives_its_whole_elements_and_no_other(listed, draw):
    data = document_bytes({"sessionId": "s"}, listed, {}, indent=None, escape=False)
    cut = data[: draw.draw(st.integers(0, len(data)))]
    chunk = read_document(cut, "messages", MARKS)
    counted = [value for value in chunk.values if value.counts]
    whole = [value for value in counted if not value.recovered]
    assert [value.value for value in whole] == listed[: len(whole)]
    at = 0
    for value in chunk.values:
        assert value.offset >= at
        at = value.offset + value.length
    assert sum(value.length for value in chunk.values) + chunk.unreadable <= len(cut)


@given(st.binary(max_size=200))
def test_no_bytes_raise(data):
    chunk = read_document(b'{"messages":[{"id":1,"type":2},' + data, "messages", MARKS)
    assert chunk.values[1].value == {"id": 1, "type": 2}
    assert sum(value.length for value in chunk.values) + chunk.unreadable <= len(chunk.data)
    read_document(data, "messages", MARKS)


def test_behind_damage_whole_elements_are_recovered_and_nothing_inside_them_is_taken_for_one():
    damaged = b'{"id":"b","type":"user","content":[{"text":"x"}] oops ,'
    data = b'{"messages":[{"id":"a","type":"user"},' + damaged + b'{"id":"c","type":"user","content":[{"text":"y"}]}]}'
    found = [value for value in read_document(data, "messages", MARKS).values if value.counts]
    assert [(value.value["id"], value.recovered) for value in found] == [("a", False), ("c", True)]


def test_behind_damage_no_more_is_looked_at_than_the_limit(monkeypatch):
    monkeypatch.setattr(document, "_RESCAN_LIMIT", 1000)
    data = b'{"messages":[oops' + b'{"x":' * 400 + b'{"id":"a","type":"user"}'
    chunk = read_document(data, "messages", MARKS)
    assert [value.counts for value in chunk.values] == [False]
    assert chunk.unreadable == len(data) - len(b'{"messages":[')


def test_a_list_at_the_root_is_read_as_elements():
    found = read_document(b' [ {"a":1} , null, "x" ]\n', "", ()).values
    assert [value.value for value in found] == [{"a": 1}, None, "x"]


def test_an_object_without_the_list_is_one_value():
    data = b'\xef\xbb\xbf\n{"id":"ses_1","title":"x"}\n'
    (found,) = read_document(data, "messages", MARKS).values
    assert data[found.offset : found.offset + found.length] == b'{"id":"ses_1","title":"x"}'


def test_a_broken_object_without_the_list_is_unreadable():
    chunk = read_document(b'{"id":"ses_1","title":', "messages", MARKS)
    assert (chunk.values, chunk.unreadable) == ([], 22)


def test_text_behind_the_document_is_unreadable():
    assert read_document(b'{"messages":[]} junk\n', "messages", MARKS).unreadable == 5
    assert read_document(b'{"a":1} junk\n', "messages", MARKS).unreadable == 5
    assert read_document(b"[1] junk\n", "messages", MARKS).unreadable == 5


def test_lone_surrogates_and_bad_utf8_cost_nothing_but_themselves():
    data = b'{"messages":[{"id":"a","type":"user","content":"\\ud800"},{"id":"b","type":"user","content":"\xff"}]}'
    found = read_document(data, "messages", MARKS).values[1:]
    assert [value.value["id"] for value in found] == ["a", "b"]
    for value in found:
        value.value["content"].encode()


def test_a_document_from_disk_is_one_chunk_and_is_read_only_from_its_start(tmp_path):
    path = tmp_path / "session.json"
    path.write_bytes(b'{"messages":[1,2]}')
    container = JsonDocument(str(path), "messages", ())
    (chunk,) = container.chunks()
    assert [value.value for value in chunk.values if value.counts] == [1, 2]
    assert list(container.chunks(5)) == []
    assert container.waiting == 0


def test_an_empty_file_has_no_chunks(tmp_path):
    path = tmp_path / "session.json"
    path.write_bytes(b"")
    assert list(JsonDocument(str(path), "messages").chunks()) == []


def test_a_document_beyond_the_limit_is_kept_but_not_read(tmp_path, monkeypatch):
    monkeypatch.setattr(document, "DOCUMENT_LIMIT", 8)
    path = tmp_path / "session.json"
    path.write_bytes(b'{"messages":[1,2]}')
    (chunk,) = JsonDocument(str(path), "messages").chunks()
    assert (chunk.data, chunk.values, chunk.unreadable) == (b'{"messages":[1,2]}', [], 18)


def test_a_missing_document_is_an_os_error(tmp_path):
    with pytest.raises(OSError, match="gone"):
        list(JsonDocument(str(tmp_path / "gone.json"), "messages").chunks())


@given(values)
def test_the_end_of_any_value_is_known(value):
    data = json.dumps(value).encode()
    assert end_of_value(data + b",", 0) == len(data)
