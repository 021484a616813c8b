"""Plans: what no change names is copied byte for byte, whatever the bytes."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fabula.record.rewriting.plan import Change, Snapshot, make_plan

OBJECTS = st.dictionaries(st.text(max_size=4), st.text(max_size=12) | st.integers(), max_size=3).map(
    lambda value: json.dumps(value, ensure_ascii=False).encode()
)
JUNK = st.sampled_from([b"", b"   ", b"{torn", b"\xff\xfe{}", b"[1,2]", b"7", b"\x00", b'{"a": "\xc3"}'])
LINES = st.lists(st.lists(OBJECTS | JUNK, min_size=1, max_size=3).map(b" ".join), max_size=8)
ENDS = st.sampled_from([b"\n", b"\r\n"])


@st.composite
def files(draw: st.DrawFn) -> bytes:
    end = draw(ENDS)
    tail = draw(st.sampled_from([b"", b'{"uuid":"half', b'{"whole":1}']))
    return b"".join(line + end for line in draw(LINES)) + tail


def rewritten(snapshot: Snapshot, changes: list[Change]) -> bytes:
    plan = make_plan(snapshot, changes)
    data = b"".join(map(bytes, plan.pieces(snapshot.data)))
    assert len(data) == plan.size
    return data


@settings(deadline=None)
@given(files(), st.data())
def test_what_no_change_names_stays_byte_for_byte(data: bytes, draw: st.DataObject) -> None:
    snapshot = Snapshot("x", data)
    fates = [draw.draw(st.sampled_from(["keep", "drop", "change"])) for _ in snapshot.values]
    changes = [
        Change(found.offset, found.length, None if fate == "drop" else b'{"new":1}', "test")
        for found, fate in zip(snapshot.values, fates, strict=True)
        if fate != "keep"
    ]
    after = rewritten(snapshot, changes)
    if not changes:
        assert after == data
    kept = [snapshot.raw(found) for found, fate in zip(snapshot.values, fates, strict=True) if fate == "keep"]
    place = 0
    for raw in kept:
        place = after.index(raw, place) + len(raw)
    assert after.endswith(data[snapshot.end :])
    expected = [
        b'{"new":1}' if fate == "change" else snapshot.raw(found)
        for found, fate in zip(snapshot.values, fates, strict=True)
        if fate == "change" or (fate == "keep" and isinstance(found.value, dict))
    ]
    again = Snapshot("x", after)  # beside torn bytes only objects are found again
    assert [again.raw(found) for found in again.values if isinstance(found.value, dict)] == expected


@settings(deadline=None)
@given(files(), st.data())
def test_lines_without_a_change_stay_whole(data: bytes, draw: st.DataObject) -> None:
    snapshot = Snapshot("x", data)
    if not snapshot.values:
        return
    found = draw.draw(st.sampled_from(snapshot.values))
    after = rewritten(snapshot, [Change(found.offset, found.length, None, "test")])
    begin = data.rfind(b"\n", 0, found.offset) + 1
    end = data.find(b"\n", found.offset + found.length) + 1 or len(data)
    assert after.startswith(data[:begin])
    assert after.endswith(data[end:])


def test_a_line_goes_with_its_end_only_when_nothing_of_it_is_left() -> None:
    data = b'{"a":1} {"b":2}\r\n{"c":3} junk\n{"d":4}\n'
    snapshot = Snapshot("x", data)

    def drop(*dropped: int) -> bytes:
        found = [snapshot.values[index] for index in dropped]
        return rewritten(snapshot, [Change(each.offset, each.length, None, "test") for each in found])

    assert drop(0) == b' {"b":2}\r\n{"c":3} junk\n{"d":4}\n'
    assert drop(0, 1) == b'{"c":3} junk\n{"d":4}\n'
    assert drop(2) == b'{"a":1} {"b":2}\r\n junk\n{"d":4}\n'
    assert drop(3) == b'{"a":1} {"b":2}\r\n{"c":3} junk\n'


def test_inserted_lines_stand_before_the_line_that_begins_there_or_at_the_end() -> None:
    snapshot = Snapshot("x", b'{"a":1}\n{"b":2}')
    assert rewritten(snapshot, [Change(0, 0, b"{}", "test")]) == b'{}\n{"a":1}\n{"b":2}'
    assert rewritten(snapshot, [Change(8, 0, b"{}", "test")]) == b'{"a":1}\n{}\n{"b":2}'
    assert rewritten(snapshot, [Change(15, 0, b"{}", "test")]) == b'{"a":1}\n{"b":2}\n{}\n'
    torn = Snapshot("x", b'{"a":1}\n{"half')
    assert rewritten(torn, [Change(8, 0, b"{}", "test")]) == b'{"a":1}\n{}\n{"half'


@pytest.mark.parametrize(
    "changes",
    [
        [Change(1, 3, None, "")],  # no value
        [Change(0, 7, None, ""), Change(0, 7, b"{}", "")],  # twice the same
        [Change(3, 0, b"{}", "")],  # inside a line
    ],
)
def test_changes_that_name_no_value_are_refused(changes: list[Change]) -> None:
    with pytest.raises(ValueError, match="at"):
        make_plan(Snapshot("x", b'{"a":1}\n{"b":2}\n'), changes)
