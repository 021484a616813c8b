"""Cursor's command line: chats as databases of blobs named after their content."""

from __future__ import annotations

import json
import os

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fabula.hosts.cursor.checkpoints import (
    folder_of,
    leading_entries,
    read_checkpoint,
    shared_entries,
    workspace_folder,
)
from fabula.hosts.cursor.messages import user_blocks
from fabula.hosts.cursor.normaliser import CursorNormaliser
from fabula.hosts.cursor.protobuf import read_fields
from fabula.hosts.cursor.source import CursorSource
from fabula.hosts.cursor.store import chat_rows, reading_order
from fabula.kernel.records import Record, SourceFile
from fabula.record.containers.rebuilt import rebuild_database
from fabula.record.containers.rows import foreign_reader, read_line
from fabula.testing.cursor_store import CursorStore
from fabula.testing.reader_laws import assert_reads_the_same_again, assert_total


@pytest.fixture
def chat(tmp_path):
    made = CursorStore(tmp_path / ".cursor")
    yield made
    made.close()


def source_of(chat):
    return CursorSource(chat.path.parents[3])


def read(source, file):
    normaliser = source.normaliser(file, None)
    found = []
    for chunk in source.container(file).chunks():
        found += [normaliser.normalise(value.value, value.offset, value.length) for value in chunk.values]
    return [value for value in found if isinstance(value, Record)], [value for value in found if isinstance(value, str)]


def conversation(chat):
    chat.message("system", "You are an agent.")
    chat.message("user", "<user_info>\nOS: linux\n</user_info>")
    chat.user("why do the bells ring?", requestId="r1")
    answer = {"role": "assistant", "id": "1", "content": [
        {"type": "reasoning", "text": "Look.", "signature": "s"}, {"type": "redacted-reasoning", "data": "x"},
        chat.call("t1", "Shell", command="ls /bells", working_directory="/home/ada")]}  # fmt: skip
    chat.checkpoint(answer)
    chat.message("assistant", answer["content"])
    chat.result("t1", "Shell", "Exit code: 2\n\nCommand output:\n\n```\nno such bells\n```")
    chat.message("assistant", [{"type": "text", "text": "They do not."}])
    chat.checkpoint()


def test_a_chat_reads_as_one_record_a_message_in_the_order_of_its_checkpoints(chat):
    conversation(chat)
    source = source_of(chat)
    (file,) = source.discover()
    records, skipped = read(source, file)
    assert (file.path, file.kind, file.session) == (f"{chat.path}#{chat.id}", "session", chat.id)
    assert [record.kind for record in records] == ["title", "notice", "prompt", "call", "result", "reply"]
    title, _, prompt, call, result, reply = records
    assert (title.title, title.title_rank) == ("Bells", 2)
    assert [(block.kind, block.text) for block in prompt.blocks] == [("text", "why do the bells ring?")]
    assert (prompt.prompt_id, prompt.cwd) == ("r1", "/home/ada/lib ii")
    assert [block.kind for block in call.blocks] == ["thought", "call"]
    assert (call.blocks[1].tool, call.blocks[1].input["command"]) == ("Shell", "ls /bells")
    assert (result.source, result.blocks[0].tool_id, result.blocks[0].failed) == (call.uid, "t1", True)
    assert result.blocks[0].text == "no such bells"
    assert reply.blocks[0].text == "They do not."
    assert [record.time - title.time for record in records] == [0, 60_000, 60_000, 120_000, 120_000, 120_000]
    assert skipped == ["checkpoint", "message/system", "checkpoint"]


def test_calls_that_still_run_are_told_by_the_latest_checkpoint_and_keep_their_identity(chat):
    chat.user("ring")
    running = {"role": "assistant", "content": [chat.call("t1", "Write", path="/a", contents="x")]}
    chat.checkpoint(running)
    source = source_of(chat)
    (file,) = source.discover()
    waiting = read(source, file)[0][1]
    assert (waiting.kind, waiting.blocks[0].input) == ("call", {"path": "/a", "contents": "x"})
    chat.message("assistant", [{"type": "text", "text": "So."}, *running["content"]])
    chat.result("t1", "Write", "done")
    chat.checkpoint()
    (file,) = source.discover()
    records = read(source, file)[0]
    assert [record.kind for record in records] == ["title", "prompt", "call", "result"]
    assert records[2].uid == waiting.uid


def test_a_message_written_again_stays_where_the_conversation_has_it(chat):
    first = chat.user("one")
    chat.user("two")
    chat.checkpoint()
    chat.blob(chat.connection.execute("select data from blobs where id=?", (first,)).fetchone()[0])
    chat.user("three")
    chat.checkpoint()
    source = source_of(chat)
    (file,) = source.discover()
    assert [record.blocks[0].text for record in read(source, file)[0][1:]] == ["one", "two", "three"]


def test_messages_that_no_checkpoint_lists_are_read_where_they_were_written(chat):
    chat.message("user", "lost", listed=False)
    chat.user("one")
    chat.checkpoint()
    chat.message("user", "not yet", listed=False)
    source = source_of(chat)
    (file,) = source.discover()
    assert [record.blocks[0].text for record in read(source, file)[0][1:]] == ["lost", "one", "not yet"]


def test_reading_order_tells_every_row_once():
    assert reading_order([1, 2, 4, 7], {3: [2, 1], 6: [2, 1, 4]}, 6) == [3, 2, 1, 6, 4, 7]
    assert reading_order([1, 2], {}, 0) == [1, 2]


def test_checkpoints_lean_on_the_one_before_and_are_made_whole_again(chat, tmp_path):
    for number in range(60):
        chat.user(f"prompt {number}")
        chat.checkpoint()
        if number == 30:
            del chat.listed[7:]  # the person went back
    source = source_of(chat)
    (file,) = source.discover()
    data = b"".join(chunk.data for chunk in source.container(file).chunks())
    stored = dict(chat.connection.execute("select id, data from blobs"))
    assert sum(map(len, stored.values())) > len(data)
    again = tmp_path / "again.db"
    rebuild_database(data.splitlines(), str(again))
    rebuilt = apsw.Connection(str(again))
    assert dict(rebuilt.execute("select id, data from blobs")) == stored
    rebuilt.close()
    assert [record.blocks[0].text for record in read(source, file)[0][1:]] == [f"prompt {n}" for n in range(60)]


@given(st.lists(st.integers(0, 3), max_size=8), st.lists(st.integers(0, 3), max_size=8), st.binary(max_size=3))
def test_what_two_checkpoints_share_is_counted_in_whole_entries(first, second, tail):
    def made(numbers):
        return b"".join(b"\x0a\x20" + bytes([number]) * 32 for number in numbers) + tail

    shared = shared_entries(made(first), len(first), made(second))
    assert first[:shared] == second[:shared]
    assert shared == min(len(first), len(second)) or first[shared] != second[shared]
    assert leading_entries(made(first), 34) == max(0, len(first) - 1)


def test_a_row_that_was_read_before_reads_the_same_from_the_saved_state(chat):
    conversation(chat)
    source = source_of(chat)
    (file,) = source.discover()
    assert_reads_the_same_again(source, file)


def test_every_row_is_in_the_stream_and_can_be_made_again(chat):
    conversation(chat)
    chat.blob(b"\x0a\x05other")
    chat.blob(b"# a file's text")
    source = source_of(chat)
    (file,) = source.discover()
    chunks = list(source.container(file).chunks())
    data = b"".join(chunk.data for chunk in chunks)
    assert sum(value.length + 1 for chunk in chunks for value in chunk.values) == len(data)
    lines = [read_line(line) for line in data.splitlines()]
    with foreign_reader(str(chat.path)) as connection:
        assert lines == list(chat_rows(connection, ""))
    stored = [row[0] for row in chat.connection.execute("select id from blobs order by id")]
    assert sorted(row["id"] for table, row in lines if table == "blobs") == stored


def test_a_chat_changes_with_its_database_or_its_log_and_is_not_opened_for_that(chat):
    conversation(chat)
    source = source_of(chat)
    (before,) = source.discover()
    assert list(source.discover()) == [before]
    chat.user("more")
    (after,) = source.discover()
    assert (after.size, after.ctime_ns) != (before.size, before.ctime_ns)


def test_discovery_and_reading_leave_a_resting_chat_as_it_was(chat):
    conversation(chat)
    chat.close()
    data = chat.path.read_bytes()
    source = source_of(chat)
    assert [len(read(source, file)[0]) for file in source.discover()] == [6]
    assert os.listdir(chat.path.parent) == ["store.db"]
    assert chat.path.read_bytes() == data


def test_a_chat_that_its_owner_locked_is_an_error_of_that_chat_alone(chat, monkeypatch):
    monkeypatch.setattr("fabula.record.containers.rows.BUSY_MILLISECONDS", 1)
    conversation(chat)
    chat.close()
    owner = apsw.Connection(str(chat.path))
    owner.execute("pragma journal_mode=delete")
    owner.execute("begin exclusive")
    (chat.path.parent / "store.db-wal").write_bytes(b"x")  # so that it is not read as a resting one
    source = source_of(chat)
    (file,) = source.discover()
    with pytest.raises(OSError, match="locked"):
        read(source, file)
    owner.close()


@pytest.mark.parametrize("data", [b"", b"garbage" * 100, b"SQLite format 3\0" + b"\0" * 84])
def test_what_is_no_chat_is_an_error_of_that_file_alone(tmp_path, data):
    folder = tmp_path / "chats" / "w" / "c"
    folder.mkdir(parents=True)
    (folder / "store.db").write_bytes(data)
    (tmp_path / "chats" / "w" / "empty").mkdir()
    (tmp_path / "chats" / "stray").write_text("x")
    source = CursorSource(tmp_path)
    (file,) = source.discover()
    with pytest.raises(OSError, match=r"store\.db"):
        read(source, file)
    assert source.problems() == []


def test_the_note_beside_a_chat_gives_its_title_and_folder(chat):
    note = {"schemaVersion": 1, "title": " The bells ", "cwd": "/home/ada", "createdAtMs": 1_772_359_200_000}
    (chat.path.parent / "meta.json").write_text(json.dumps(note))
    source = source_of(chat)
    _, file = source.discover()
    (title,) = read(source, file)[0]
    assert (file.kind, title.session, title.title, title.title_rank, title.cwd) == (
        "meta", chat.id, "The bells", 2, "/home/ada",
    )  # fmt: skip


def test_what_a_person_typed_is_told_from_what_the_client_put_around_it():
    def kinds(*texts):
        kind, blocks = user_blocks([{"type": "text", "text": text} for text in texts])
        return kind, [(block.kind, block.text) for block in blocks]

    assert kinds("<timestamp>now</timestamp>\n<user_query>\nring\n</user_query>") == (
        "prompt", [("text", "ring"), ("other", "<timestamp>now</timestamp>")],
    )  # fmt: skip
    assert kinds("<rules>a <b>c</b></rules>") == ("notice", [("text", "<rules>a <b>c</b></rules>")])
    assert kinds("<b>bold</b> is what I mean") == ("prompt", [("text", "<b>bold</b> is what I mean")])
    assert kinds("plain") == ("prompt", [("text", "plain")])
    assert kinds("") == ("notice", [])


def test_summaries_reminders_and_older_spellings(chat):
    chat.message("user", [{"type": "text", "text": "So far: bells."}], isSummary=True)
    chat.message("user", [{"type": "text", "text": "Go on."}], loopReminder={})
    chat.message("assistant", [chat.call("a", "Task", prompt="look")])
    chat.result("a", "Task", "seen", output={"success": {"agentId": "agent-1"}}, isError=False)
    chat.message("tool", [{"type": "tool-result", "toolCallId": "b", "toolName": "Read", "experimental_content": [
        {"type": "text", "text": "one"}, {"type": "image", "data": "x"}]}])  # fmt: skip
    chat.message("assistant", "a plain answer")
    chat.message("robot", "hm")
    chat.checkpoint()
    source = source_of(chat)
    (file,) = source.discover()
    records, skipped = read(source, file)
    assert [record.kind for record in records[1:]] == ["summary", "notice", "call", "result", "result", "reply"]
    assert records[4].blocks[0].input == {"agentId": "agent-1"}
    assert (records[5].blocks[0].text, records[5].blocks[0].images) == ("one", 1)
    assert skipped == ["checkpoint", "message/robot"]


def test_a_subagent_that_a_checkpoint_holds_stands_beside_the_conversation(chat):
    around = "<user_info>\nOS: linux\n</user_info>"
    shared = chat.message("user", around)
    chat.user("count the bells")
    chat.message("assistant", [chat.call("t1", "Task", prompt="count")])
    chat.checkpoint()
    task = chat.message("user", "<user_query>\ncount\n</user_query>", listed=False)
    reply = chat.message("assistant", [{"type": "text", "text": "Nine."}], listed=False)
    chat.checkpoint(subagents={"agent-1": [shared, task, reply]})
    chat.result("t1", "Task", "Nine.", output={"success": {"agentId": "agent-1"}})
    chat.checkpoint(subagents={"agent-1": [shared, task, reply]})
    source = source_of(chat)
    (file,) = source.discover()
    values = [value for chunk in source.container(file).chunks() for value in chunk.values]
    normaliser = source.normaliser(file, None)
    found = [normaliser.normalise(value.value, value.offset, value.length) for value in values]
    records = [record for record in found if isinstance(record, Record)]
    assert [(record.kind, record.spawned_by, record.sidechain) for record in records] == [
        ("title", "", False), ("notice", "", False), ("prompt", "", False), ("call", "", False),
        ("task", "agent-1", True), ("reply", "agent-1", True), ("result", "", False),
    ]  # fmt: skip
    assert [record.parent for record in records[4:6]] == ["", records[4].uid]
    again = source.normaliser(file, json.loads(json.dumps(normaliser.state)))
    assert [again.normalise(value.value, value.offset, value.length) for value in values] == found


def test_parts_of_a_checkpoint_that_cannot_be_read_cost_only_themselves():
    entry = b"\x0a\x20" + bytes(32)
    for broken in (b"\x72\x01\xff", b"\x82\x01\x01\xff", b"\x82\x01\x04\x12\x02\x0a\xff", b"\x72\x00"):
        found = read_checkpoint(entry + broken)
        assert found is not None
        assert (found.messages, found.time) == ([bytes(32).hex()], 0)
    assert read_checkpoint(entry + b"\x70\x01") is not None


def test_identities_do_not_collide_between_chats(tmp_path):
    uids = []
    for seed in ("a", "b"):
        chat = CursorStore(tmp_path, seed)
        chat.user("hello")
        chat.checkpoint()
        chat.close()
    source = CursorSource(tmp_path)
    for file in source.discover():
        uids += [record.uid for record in read(source, file)[0]]
    assert len(set(uids)) == len(uids) == 4


def test_the_folder_is_the_one_after_which_the_chats_folder_is_called():
    assert workspace_folder(["/a", "/b"], "350c64cbcba2c2d82c89a2ed3b6bd4b1") == "/b"
    assert workspace_folder(["/a", "/c"], "x") == "/c"
    assert workspace_folder([], "x") == ""
    assert folder_of("file:///a%20b") == "/a b"
    assert folder_of("vscode-remote://x/a") == folder_of("http://[x") == ""


@given(st.binary(max_size=80))
def test_any_bytes_are_fields_or_an_error(data):
    try:
        fields = read_fields(data)
    except ValueError:
        assert read_checkpoint(data) is None
    else:
        assert all(isinstance(value, int | bytes) for _, value in fields)
        read_checkpoint(data)


KEYS = ["table", "row", "id", "data", "utf8", "hex", "value", "key"]
WORDS = ["meta", "blobs", "0a20" + "ab" * 32, '{"role":"user","content":"x"}', '{"role":"tool","content":[{}]}', "7b7d",
         '{"role":"assistant","content":[{"type":"tool-call","args":7}]}', "{", ""]  # fmt: skip
scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(WORDS) | st.text(max_size=4)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=6),
    max_leaves=12,
)
rows = st.fixed_dictionaries(
    {"table": st.sampled_from(WORDS[:2]), "row": st.dictionaries(st.sampled_from(KEYS), values, max_size=6)}
)


@settings(max_examples=100)
@given(st.lists(rows | values, max_size=5))
def test_any_sequence_of_values_gives_records_or_named_skips(sequence):
    file = SourceFile("cursor", "/w/c/store.db#c", "session", "c", 0, 0, 0, 0)
    assert_total(lambda state: CursorNormaliser(file, state), sequence)
