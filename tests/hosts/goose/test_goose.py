"""Goose: sessions as rows of its database and as its older files of JSON lines."""

from __future__ import annotations

import json
import os

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fabula.hosts.goose.database import session_rows
from fabula.hosts.goose.normaliser import GooseNormaliser
from fabula.hosts.goose.source import GooseSource
from fabula.kernel.records import Record, SourceFile
from fabula.record.containers.rows import foreign_reader, read_line
from fabula.testing.goose_database import GooseDatabase, answered, asked, said
from fabula.testing.reader_laws import assert_reads_the_same_again, assert_total


@pytest.fixture
def owner(tmp_path):
    made = GooseDatabase(tmp_path / "goose" / "sessions" / "sessions.db")
    yield made
    made.close()


def source_of(owner):
    return GooseSource(owner.path.parent.parent)


def read(source, file):
    normaliser = source.normaliser(file, None)
    found = []
    for chunk in source.container(file).chunks():
        found += [normaliser.normalise(value.value, value.offset, value.length) for value in chunk.values]
    return [value for value in found if isinstance(value, Record)], [value for value in found if isinstance(value, str)]


def conversation(owner, key="20260301_1"):
    owner.session(key, user_set_name=True)
    owner.message(key, "user", said("why do the bells ring?"), key="msg_1")
    owner.message(
        key,
        "assistant",
        {"type": "thinking", "thinking": "Look.", "signature": "s"},
        said("I look."),
        asked("c1", "developer__shell", command="ls /bells"),
        key="msg_2",
    )
    owner.message(key, "user", answered("c1", "ls: no such bells", code=2), key="msg_3")
    owner.message(key, "assistant", said("They do not."), key="msg_2")
    owner.bill(key, "gpt-5", input_tokens=900, output_tokens=30, cache_read_tokens=600, cache_write_tokens=100)


def test_a_session_reads_as_one_record_a_message_a_title_and_a_bill(owner):
    conversation(owner)
    source = source_of(owner)
    (file,) = source.discover()
    records, skipped = read(source, file)
    assert (file.path, file.kind, file.session) == (f"{owner.path}#20260301_1", "session", "20260301_1")
    assert [record.kind for record in records] == ["title", "prompt", "call", "result", "reply", "other"]
    title, prompt, call, result, reply, bill = records
    assert (title.title, title.title_rank, title.cwd) == ("Ferry bells", 3, "/home/ada/lib")
    assert prompt.time == 1_772_359_202_000
    assert [block.kind for block in call.blocks] == ["thought", "text", "call"]
    assert (call.blocks[2].tool, call.blocks[2].input) == ("developer__shell", {"command": "ls /bells"})
    assert (result.role, result.source, result.blocks[0].tool_id) == ("tool", call.uid, "c1")
    assert (result.blocks[0].text, result.blocks[0].failed) == ("ls: no such bells", True)
    assert reply.blocks[0].text == "They do not."
    assert (bill.usage.model, bill.usage.input, bill.usage.output) == ("gpt-5", 200, 30)
    assert (bill.usage.cache_read, bill.usage.cache_write) == (600, 100)
    assert len({record.uid for record in records}) == 6  # pieces of one answer share Goose's own id
    assert skipped == []


def test_a_row_that_was_read_before_reads_the_same_from_the_saved_state(owner):
    conversation(owner)
    source = source_of(owner)
    (file,) = source.discover()
    assert_reads_the_same_again(source, file)


def test_every_row_of_the_session_is_in_the_stream(owner):
    conversation(owner)
    conversation(owner, "20260301_2")
    source = source_of(owner)
    file, _ = source.discover()
    chunks = list(source.container(file).chunks())
    data = b"".join(chunk.data for chunk in chunks)
    assert sum(value.length + 1 for chunk in chunks for value in chunk.values) == len(data)
    with foreign_reader(str(owner.path)) as connection:
        assert [read_line(line) for line in data.splitlines()] == list(session_rows(connection, "20260301_1"))


@pytest.mark.parametrize(
    "change",
    [
        "update messages set content_json=content_json||' ' where id=(select max(id) from messages where {own})",
        "update messages set metadata_json='{{}}' where id=(select max(id) from messages where {own})",
        "update sessions set name='x', updated_at='2026-03-01 11:00:00' where id='20260301_1'",
        "insert into messages(session_id,role,content_json,created_timestamp) values('20260301_1','user','[]',1)",
        "delete from messages where message_id='msg_1' and {own}",
        "insert into usage_ledger(session_id,created_timestamp) values('20260301_1',1)",
    ],
)
def test_the_signature_of_a_session_changes_with_its_rows_and_with_no_others(owner, change):
    conversation(owner)
    conversation(owner, "20260301_2")
    source = source_of(owner)
    before = {file.session: file for file in source.discover()}
    assert {file.session: file for file in source.discover()} == before
    owner.connection.execute(change.format(own="session_id='20260301_1'"))
    after = {file.session: file for file in source.discover()}
    assert after["20260301_2"] == before["20260301_2"]
    changed, known = after["20260301_1"], before["20260301_1"]
    assert (changed.size, changed.mtime_ns, changed.ctime_ns) != (known.size, known.mtime_ns, known.ctime_ns)


def test_a_compaction_keeps_the_identity_of_what_it_writes_again(owner):
    conversation(owner)
    source = source_of(owner)
    (file,) = source.discover()
    before = {record.uid for record in read(source, file)[0]}
    rows = owner.connection.execute("select message_id, role, content_json from messages order by id").fetchall()
    owner.connection.execute("delete from messages")
    for key, role, content in rows:
        owner.message(file.session, role, *json.loads(content), key=key, agentVisible=False)
    owner.message(file.session, "user", said("So far: bells."), key="msg_9", userVisible=False)
    owner.message(file.session, "assistant", said("Your context was compacted."), key="msg_10", userVisible=False)
    owner.message(file.session, "user", said("once more"), key="msg_11", userVisible=False, agentVisible=False)
    (file,) = source.discover()
    records = read(source, file)[0]
    assert before <= {record.uid for record in records}
    assert [(record.kind, record.live) for record in records[-4:-1]] == [
        ("summary", True), ("notice", True), ("summary", False),
    ]  # fmt: skip


def test_a_subagents_session_names_its_parent_and_what_programs_started_is_marked(owner):
    conversation(owner)
    owner.session("20260301_2", parent_session_id="20260301_1", session_type="sub_agent")
    owner.message("20260301_2", "user", said("look"), key="m")
    owner.session("20260301_3", session_type="scheduled")
    owner.message("20260301_3", "user", said("nightly"), key="m")
    source = source_of(owner)
    files = {file.session: file for file in source.discover()}
    assert (files["20260301_2"].kind, files["20260301_2"].parent_session) == ("subagent", "20260301_1")
    task = read(source, files["20260301_2"])[0][-1]
    assert (task.kind, task.sidechain, task.spawned_by, task.sdk) == ("task", True, "20260301_2", False)
    assert read(source, files["20260301_3"])[0][-1].sdk


def test_a_result_names_the_session_of_the_subagent_that_gave_it(owner):
    owner.session("1")
    given = answered("c", "It hops.")
    given["toolResult"]["value"]["_meta"] = {"subagent_session_id": "20260301_2"}
    owner.message("1", "user", given)
    source = source_of(owner)
    (file,) = source.discover()
    assert read(source, file)[0][-1].blocks[0].input == {"agentId": "20260301_2"}


def test_the_context_of_a_turn_is_a_notice_and_a_command_to_goose_is_one(owner):
    owner.session("1")
    owner.message("1", "user", said("<turn-context>"), userVisible=False, turnContext=True)
    owner.message("1", "user", said("<turn-context>"), userVisible=False, agentVisible=False, turnContext=True)
    for text in ("/compact", "/plan the bells", "/home/ada/bells is empty", "/ alone"):
        owner.message("1", "user", said(text))
    source = source_of(owner)
    (file,) = source.discover()
    records = read(source, file)[0][1:]
    assert [record.kind for record in records] == ["notice", "notice", "command", "command", "prompt", "prompt"]
    assert all(record.live for record in records)


def test_a_tool_id_that_two_runs_share_joins_each_result_to_the_call_before_it(owner):
    owner.session("1")
    for turn in ("one", "two"):
        owner.message("1", "assistant", asked("c1", "shell", command=turn))
        owner.message("1", "user", answered("c1", turn))
    source = source_of(owner)
    (file,) = source.discover()
    first, told, second, again = read(source, file)[0][1:]
    assert (told.source, again.source) == (first.uid, second.uid)


def test_older_schemas_tell_the_tokens_as_a_total_of_the_session(tmp_path):
    owner = GooseDatabase(tmp_path / "sessions" / "sessions.db", ledger=False)
    owner.session("1", "New Chat", accumulated_input_tokens=70, accumulated_output_tokens=7)
    source = GooseSource(tmp_path)
    (file,) = source.discover()
    (title,) = read(source, file)[0]
    assert (title.title_rank, title.usage.input, title.usage.output) == (1, 70, 7)
    owner.close()


def test_errors_pictures_and_items_that_say_nothing(owner):
    owner.session("1")
    failed = {"type": "toolResponse", "id": "c", "toolResult": {"status": "error", "error": "denied"}}
    old = {"status": "success", "value": [{"type": "text", "text": "one"}, {"type": "image", "data": "x"}]}
    twice = {"status": "success", "value": {"content": [
        {"type": "text", "text": "for you", "annotations": {"audience": ["user"]}},
        {"type": "text", "text": "for it", "annotations": {"audience": ["assistant"]}}]}}  # fmt: skip
    owner.message("1", "user", failed)
    owner.message("1", "user", {"type": "toolResponse", "id": "d", "toolResult": old})
    owner.message("1", "user", {"type": "toolResponse", "id": "e", "toolResult": twice})
    owner.message("1", "user", {"type": "image", "mimeType": "image/png", "data": "x"})
    owner.message("1", "assistant", {"type": "redactedThinking", "data": "x"})
    owner.message("1", "assistant", {"type": "systemNotification", "notificationType": "inlineMessage", "msg": "hm"})
    owner.message("1", "assistant", {"type": "toolRequest", "id": "f", "toolCall": {"status": "error", "error": "odd"}})
    source = source_of(owner)
    (file,) = source.discover()
    records, skipped = read(source, file)
    blocks = [record.blocks[0] for record in records[1:]]
    assert [(b.kind, b.text, b.failed, b.images) for b in blocks] == [
        ("result", "denied", True, 0), ("result", "one", False, 1), ("result", "for it", False, 0),
        ("image", "image/png", False, 1), ("other", "hm", False, 0), ("call", "odd", False, 0),
    ]  # fmt: skip
    assert [record.kind for record in records[1:]] == ["result", "result", "result", "prompt", "system", "call"]
    assert skipped == ["message/redactedThinking"]


def lines(path, *values):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(value) + "\n" for value in values), encoding="utf-8")


OLD = (
    {"working_dir": "/home/ada/lib", "description": "Bells", "message_count": 1, "total_tokens": 9},
    {"role": "user", "created": 1_740_000_000, "content": [said("ring")]},
    {"role": "assistant", "created": 1_740_000_001, "content": [asked("c", "shell", command="ls")]},
    {"role": "user", "created": 1_740_000_002, "content": [answered("c", "x")]},
    {"what": "else"},
)


def test_older_files_read_like_rows(tmp_path):
    lines(tmp_path / "sessions" / "20250219_1.jsonl", *OLD)
    source = GooseSource(tmp_path)
    (file,) = source.discover()
    records, skipped = read(source, file)
    assert [record.kind for record in records] == ["title", "prompt", "call", "result"]
    assert {record.session for record in records} == {"20250219_1"}
    assert {record.cwd for record in records} == {"/home/ada/lib"}
    assert records[3].source == records[2].uid
    assert skipped == ["line"]


def test_older_files_that_the_database_took_over_are_counted_alone(owner):
    conversation(owner, "20250219_1")
    lines(owner.path.parent / "20250219_1.jsonl", *OLD)
    source = source_of(owner)
    stored, old = source.discover()
    assert (stored.kind, old.kind) == ("session", "imported")
    assert read(source, old) == ([], ["in the database"] * 5)


def test_a_database_of_another_shape_is_a_problem_and_the_older_files_are_still_found(tmp_path):
    (tmp_path / "sessions").mkdir()
    (tmp_path / "sessions" / "sessions.db").write_bytes(b"garbage" * 1000)
    lines(tmp_path / "sessions" / "1.jsonl", *OLD)
    source = GooseSource(tmp_path)
    assert [file.kind for file in source.discover()] == ["session"]
    assert source.problems()[0][0] == str(tmp_path / "sessions" / "sessions.db")


def test_discovery_leaves_no_file_beside_a_resting_database(owner):
    conversation(owner)
    owner.close()
    data = owner.path.read_bytes()
    source = source_of(owner)
    assert [len(read(source, file)[0]) for file in source.discover()] == [6]
    assert os.listdir(owner.path.parent) == ["sessions.db"]
    assert owner.path.read_bytes() == data


def test_a_folder_that_is_not_there_holds_nothing(tmp_path):
    source = GooseSource(tmp_path / "goose")
    assert list(source.discover()) == []
    assert source.problems() == []


KEYS = ["table", "row", "id", "role", "content", "content_json", "metadata_json", "metadata", "created", "type", "text",
        "toolCall", "toolResult", "status", "value", "name", "arguments", "structuredContent", "exit_code", "isError",
        "annotations", "audience", "message_id", "created_timestamp", "working_dir", "description", "thinking", "data",
        "user_set_name", "parent_session_id", "accumulated_input_tokens", "input_tokens"]  # fmt: skip
WORDS = ["sessions", "messages", "usage_ledger", "text", "toolRequest", "toolResponse", "thinking", "user", "[]",
         '[{"type":"text","text":1}]', '[{"type":"toolRequest"}]', "[", "", "error", "success"]  # fmt: skip
scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(WORDS) | st.text(max_size=4)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=6),
    max_leaves=12,
)
rows = st.fixed_dictionaries(
    {"table": st.sampled_from(WORDS[:3]), "row": st.dictionaries(st.sampled_from(KEYS), values, max_size=6)}
)


@settings(max_examples=100)
@given(st.lists(rows | values, max_size=5), st.sampled_from(["session", "subagent", "imported"]))
def test_any_sequence_of_values_gives_records_or_named_skips(sequence, kind):
    file = SourceFile("goose", "/x", kind, "s", 0, 0, 0, 0)
    assert_total(lambda state: GooseNormaliser(file, state), sequence)
