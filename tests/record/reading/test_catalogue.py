"""Ids, sessions and days, looked up in a real map."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabula.kernel.errors import FabulaError
from fabula.kernel.ids import pack_id, unpack_id
from fabula.record.reading.catalogue import (
    Window,
    children,
    count_sessions,
    files_of_session,
    list_sessions,
    list_threads,
    session_by_row,
    threads_of_session,
    usage_of_session,
)
from fabula.record.reading.exact import exact
from fabula.record.reading.identify import identify, packed_range, thread_of
from fabula.record.reading.timeline import days, totals
from fabula.testing.record_home import RecordHome
from fabula.testing.transcripts import ClaudeSession, Ticker, stable_uuid


@pytest.fixture
def home(tmp_path: Path) -> RecordHome:
    """Two sessions of one project with a subagent in the first, and one of another project a day later."""
    home = RecordHome(tmp_path)
    clock = Ticker()
    first = ClaudeSession("one", clock=clock)
    first.title("Limits")
    first.prompt("Why is the limiter slow?")
    (call,) = first.calls(("Task", {"description": "look", "prompt": "look around"}))
    helper = ClaudeSession("one", clock=clock, agent="a7", parent_session=first.id)
    helper.task("look around")
    helper.tool("Write", {"file_path": "/home/mira/code/harbor/notes.md", "content": "x"}, "written")
    first.result(call, "done", detail={"agentId": "a7", "status": "completed"})
    first.tool("Read", {"file_path": "/home/mira/code/harbor/a.py"}, "text")
    first.prompt("And now?")
    first.reply("Now it is fast.")
    second = ClaudeSession("two", clock=clock)
    second.prompt("Second session")
    clock.pause(days=1)
    third = ClaudeSession("three", cwd="/home/mira/code/quay", clock=clock)
    third.prompt("Third session")
    for session in (first, helper, second, third):
        home.save(session)
    home.scan()
    return home


def project(home: RecordHome, label: str) -> tuple[int, ...]:
    return tuple(row[0] for row in home.rows("select id from projects where label=?", label))


def test_sessions_are_listed_by_last_activity_without_subagents(home: RecordHome) -> None:
    found = list_sessions(home.map, Window(), limit=10)
    assert [row.id for row in found] == [stable_uuid("session", seed) for seed in ("three", "two", "one")]
    assert found[-1].title == "Limits"
    assert (found[-1].threads, found[-1].subagents, found[-1].project) == (2, 1, "harbor")
    assert count_sessions(home.map, Window()) == 3


def test_a_window_limits_by_project_host_and_time_before_the_page_is_cut(home: RecordHome) -> None:
    harbor = project(home, "harbor")
    assert len(list_sessions(home.map, Window(harbor), limit=10)) == 2
    assert list_sessions(home.map, Window(()), limit=10) == []
    assert count_sessions(home.map, Window(host="codex")) == 0
    last = list_sessions(home.map, Window(), limit=1)[0]
    assert last.first_time is not None
    assert count_sessions(home.map, Window(since=last.first_time)) == 1
    assert count_sessions(home.map, Window(until=last.first_time)) == 2
    assert len(list_sessions(home.map, Window(), limit=2, offset=2)) == 1


def test_pinned_sessions_come_first(home: RecordHome) -> None:
    one = stable_uuid("session", "one")
    assert list_sessions(home.map, Window(), limit=1, pinned=[one])[0].id == one


def test_a_session_knows_its_subagents_threads_files_and_usage(home: RecordHome) -> None:
    row = identify(home.map, stable_uuid("session", "one"), "session").id
    assert [child.id for child in children(home.map, row, ("subagent",))] == ["a7"]
    assert children(home.map, row, ("main",)) == []
    assert [thread.records for thread in threads_of_session(home.map, row)][1] == 2
    touched = {file.path: file.operations for file in files_of_session(home.map, row)}
    assert touched["/home/mira/code/harbor/notes.md"] == {"write": 1}
    (usage,) = usage_of_session(home.map, row)
    responses = home.rows("select count(*) from responses")[0][0]
    assert usage.responses == responses
    assert usage.output == 220 * responses


def test_days_add_up_to_the_totals_of_the_window(home: RecordHome) -> None:
    by_day = days(home.map, Window())
    assert [day.date for day in by_day] == ["2026-03-03", "2026-03-02"]
    assert [day.threads for day in by_day] == [1, 3]
    assert by_day[1].top_projects == ("harbor",)
    assert totals(by_day).threads == 4
    assert totals(by_day).records == home.rows("select sum(records) from threads")[0][0]
    assert days(home.map, Window(())) == []


def test_threads_are_listed_newest_first(home: RecordHome) -> None:
    times = [row.first_time or 0 for row in list_threads(home.map, Window(), limit=10)]
    assert times == sorted(times, reverse=True)
    assert len(times) == 4


def test_whole_ids_and_unique_beginnings_name_threads_sessions_and_records(home: RecordHome) -> None:
    thread = home.rows("select id, uid from threads order by id limit 1")[0]
    uid = unpack_id(thread[1])
    assert identify(home.map, uid, "thread", "session").id == thread[0]
    assert identify(home.map, uid[:10], "thread", "session").uid == uid
    assert identify(home.map, uid[:10].upper(), "thread", "session").uid == uid
    record = home.rows("select id, uid from records where thread_id is not null order by id desc limit 1")[0]
    target = identify(home.map, unpack_id(record[1])[:12], "thread", "session", "record")
    assert (target.kind, target.id) == ("record", record[0])
    assert thread_of(home.map, target) == home.rows("select thread_id from records where id=?", record[0])[0][0]
    assert identify(home.map, "a7", "session").uid == "a7"


@pytest.mark.parametrize(
    "text", ["", " ", "zzzz", "abc", "%", "____", "' or 1=1 --", "00000000-0000-4000-a000-000000000000"]
)
def test_what_names_nothing_is_an_error(home: RecordHome, text: str) -> None:
    with pytest.raises(FabulaError) as caught:
        identify(home.map, text, "thread", "session", "record")
    assert caught.value.code == "ERR_NOT_FOUND"


def test_a_beginning_that_names_two_things_is_ambiguous(tmp_path: Path) -> None:
    home = RecordHome(tmp_path)
    for seed, name in (("x", "abcd1"), ("y", "abcd2")):
        session = ClaudeSession(seed)
        session.prompt("hello")
        home.write(f"projects/p/{name}.jsonl", session.data().replace(session.id.encode(), name.encode()))
    home.scan()
    with pytest.raises(FabulaError) as caught:
        identify(home.map, "abcd", "session")
    assert caught.value.code == "ERR_AMBIGUOUS"
    assert "abcd1" in caught.value.message
    assert identify(home.map, "abcd1", "session").uid == "abcd1"


@given(st.uuids().map(str), st.integers(1, 36))
def test_a_packed_range_holds_exactly_the_uuids_with_the_beginning(uid: str, length: int) -> None:
    span = packed_range(uid[:length])
    assert span is not None
    packed = pack_id(uid)
    assert isinstance(packed, bytes)
    assert span[0] <= packed < span[1]
    other = ("1" if uid[0] == "0" else "0") + uid[1:]
    changed = pack_id(other)
    assert isinstance(changed, bytes)
    assert not span[0] <= changed < span[1]


@pytest.mark.parametrize("text", ["", "-", "1234567-", "xyz", "12345678-1234-1234-1234-1234567890123"])
def test_what_begins_no_uuid_has_no_range(text: str) -> None:
    assert packed_range(text) is None


@given(st.binary(max_size=40))
def test_exact_bytes_come_back_whatever_they_are(raw: bytes) -> None:
    assert exact("u", raw).to_bytes() == raw


def test_a_session_row_is_found_by_its_number(home: RecordHome) -> None:
    row = identify(home.map, stable_uuid("session", "two"), "session").id
    assert session_by_row(home.map, row).id == stable_uuid("session", "two")
