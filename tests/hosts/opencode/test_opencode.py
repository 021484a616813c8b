"""OpenCode: sessions as rows of its database and as its older JSON files."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fabula.hosts.opencode.database import session_rows
from fabula.hosts.opencode.normaliser import OpenCodeNormaliser
from fabula.hosts.opencode.roots import OpenCodeRoots
from fabula.hosts.opencode.source import OpenCodeSource
from fabula.kernel.records import Record, SourceFile
from fabula.record.containers.rows import column_bytes, foreign_reader, read_line
from fabula.testing.opencode_database import OpenCodeDatabase
from fabula.testing.reader_laws import assert_reads_the_same_again, assert_total
from fabula.testing.rollouts import OpenCodeStorage

NOW = 1_772_359_200_000


@pytest.fixture
def owner(tmp_path):
    made = OpenCodeDatabase(tmp_path / "opencode" / "opencode.db")
    yield made
    made.close()


def source_of(owner):
    return OpenCodeSource(OpenCodeRoots(owner.path, owner.path.parent / "storage"))


def read(source, file):
    normaliser = source.normaliser(file, None)
    found = []
    for chunk in source.container(file).chunks():
        found += [normaliser.normalise(value.value, value.offset, value.length) for value in chunk.values]
    return [value for value in found if isinstance(value, Record)], [value for value in found if isinstance(value, str)]


def conversation(owner):
    owner.session("ses_1")
    owner.message("msg_1", "ses_1", "user")
    owner.part("prt_1", "msg_1", "ses_1", type="text", text="why slow?")
    owner.part("prt_2", "msg_1", "ses_1", type="text", text="(context)", synthetic=True)
    owner.message("msg_2", "ses_1", "assistant", parentID="msg_1", modelID="m", path={"cwd": "/home/ada/lib/sub"},
                  tokens={"input": 9, "output": 2, "reasoning": 1, "cache": {"read": 4, "write": 3}})  # fmt: skip
    owner.part("prt_3", "msg_2", "ses_1", type="step-start")
    owner.part("prt_4", "msg_2", "ses_1", type="reasoning", text="Measure.")
    owner.part("prt_5", "msg_2", "ses_1", type="tool", tool="bash", callID="c1", state={
        "status": "completed", "input": {"command": "false"}, "output": "no", "metadata": {"exit": 1}})  # fmt: skip
    owner.part("prt_6", "msg_2", "ses_1", type="text", text="It sleeps.")
    owner.part("prt_7", "msg_2", "ses_1", type="patch", hash="h", files=["a"])


def test_a_session_reads_as_one_record_a_part(owner):
    conversation(owner)
    source = source_of(owner)
    (file,) = source.discover()
    records, skipped = read(source, file)
    assert (file.path, file.kind, file.session) == (f"{owner.path}#ses_1", "session", "ses_1")
    assert [(record.uid, record.kind) for record in records] == [
        ("ses_1", "title"), ("prt_1", "prompt"), ("prt_2", "notice"), ("prt_4", "thought"), ("prt_5", "call"),
        ("prt_6", "reply"),
    ]  # fmt: skip
    assert (records[0].title, records[0].title_rank, records[0].cwd) == ("Harbour", 2, "/home/ada/lib")
    assert {record.prompt_id for record in records[1:]} == {"msg_1"}
    call, result = records[4].blocks
    assert (call.tool, call.tool_id, call.input) == ("bash", "c1", {"command": "false"})
    assert (result.tool_id, result.text, result.failed) == ("c1", "no", True)
    assert records[4].cwd == "/home/ada/lib/sub"
    assert skipped == ["message", "message", "part/step-start", "part/patch"]
    bills = {(r.usage.response, r.usage.input, r.usage.output, r.usage.cache_read, r.usage.cache_write)
             for r in records if r.usage}  # fmt: skip
    assert bills == {("opencode:msg_2", 9, 3, 4, 3)}


def test_a_row_that_was_read_before_reads_the_same_from_the_saved_state(owner):
    conversation(owner)
    source = source_of(owner)
    (file,) = source.discover()
    assert_reads_the_same_again(source, file)


def test_every_row_of_the_session_is_in_the_stream_and_can_be_rebuilt(owner):
    conversation(owner)
    owner.part("prt_9", "msg_lost", "ses_1", type="text", text="stray")
    source = source_of(owner)
    (file,) = source.discover()
    chunks = list(source.container(file).chunks())
    data = b"".join(chunk.data for chunk in chunks)
    assert sum(value.length + 1 for chunk in chunks for value in chunk.values) == len(data)
    with foreign_reader(str(owner.path)) as connection:
        assert [read_line(line) for line in data.splitlines()] == list(session_rows(connection, "ses_1"))
    stored = owner.connection.execute("select data from part where id='prt_5'").fetchone()[0]
    line = next(line for line in data.splitlines() if b"prt_5" in line)
    assert column_bytes(line, ("data",)) == stored.encode()


def test_lone_surrogates_in_a_column_become_valid_text(owner):
    owner.session("ses_1")
    owner.message("msg_1", "ses_1", "user")
    owner.part("prt_1", "msg_1", "ses_1", type="text", text="a\ud800b")
    source = source_of(owner)
    (file,) = source.discover()
    assert read(source, file)[0][-1].blocks[0].text == "a\ufffdb"


def test_a_subagents_session_names_its_parent_and_the_call_names_it(owner):
    conversation(owner)
    owner.part(
        "prt_8",
        "msg_2",
        "ses_1",
        type="tool",
        tool="task",
        callID="c2",
        state={
            "status": "completed",
            "input": {"prompt": "look"},
            "output": "seen",
            "metadata": {"sessionId": "ses_2"},
        },
    )
    owner.session("ses_2", "look (@general subagent)", parent="ses_1")
    owner.message("msg_5", "ses_2", "user")
    owner.part("prt_a", "msg_5", "ses_2", type="text", text="look")
    source = source_of(owner)
    main, child = source.discover()
    assert (child.kind, child.parent_session) == ("subagent", "ses_1")
    task = read(source, child)[0][-1]
    assert (task.kind, task.session, task.sidechain, task.spawned_by, task.prompt_id) == (
        "task", "ses_2", True, "ses_2", "",
    )  # fmt: skip
    assert read(source, main)[0][-1].blocks[1].input == {"agentId": "ses_2"}


@pytest.mark.parametrize(
    "change",
    [
        "update part set data='{}', time_updated=time_updated+1 where id='prt_6'",
        "update message set time_updated=time_updated+1 where id='msg_1'",
        "update session set title='x', time_updated=time_updated+1 where id='ses_1'",
        "insert into part values('prt_8', 'msg_1', 'ses_1', 1, 1, '{}')",
        "delete from part where id='prt_1'",
    ],
)
def test_the_signature_of_a_session_changes_with_its_rows_and_with_no_others(owner, change):
    conversation(owner)
    owner.session("ses_2")
    source = source_of(owner)
    before = {file.session: file for file in source.discover()}
    assert {file.session: file for file in source.discover()} == before
    owner.connection.execute(change)
    after = {file.session: file for file in source.discover()}
    assert after["ses_2"] == before["ses_2"]
    changed, known = after["ses_1"], before["ses_1"]
    assert (changed.size, changed.mtime_ns, changed.ctime_ns) != (known.size, known.mtime_ns, known.ctime_ns)


def test_what_the_host_undid_is_not_live(owner):
    owner.session("ses_1", revert={"messageID": "msg_2"})
    for number in (1, 2, 3):
        owner.message(f"msg_{number}", "ses_1", "user")
        owner.part(f"prt_{number}", f"msg_{number}", "ses_1", type="text", text="x")
    source = source_of(owner)
    (file,) = source.discover()
    assert [record.live for record in read(source, file)[0][1:]] == [True, False, False]


def test_an_undo_from_the_middle_of_a_message_keeps_the_parts_before(owner):
    owner.session("ses_1", revert={"messageID": "msg_1", "partID": "prt_2"})
    owner.message("msg_1", "ses_1", "user")
    for number in (1, 2):
        owner.part(f"prt_{number}", "msg_1", "ses_1", type="text", text="x")
    source = source_of(owner)
    (file,) = source.discover()
    assert [record.live for record in read(source, file)[0][1:]] == [True, False]


def test_errors_summaries_files_and_boundaries_have_their_kinds(owner):
    owner.session("ses_1", "New session - 2026-03-01T10:00:00Z")
    owner.message("msg_1", "ses_1", "user")
    owner.part("prt_1", "msg_1", "ses_1", type="file", mime="image/png", filename="a.png")
    owner.part("prt_2", "msg_1", "ses_1", type="file", mime="text/plain", filename="a.txt")
    owner.part("prt_3", "msg_1", "ses_1", type="compaction", auto=True)
    owner.part("prt_4", "msg_1", "ses_1", type="subtask", description="look", prompt="deeper")
    owner.message("msg_2", "ses_1", "assistant", parentID="msg_1", summary=True)
    owner.part("prt_5", "msg_2", "ses_1", type="text", text="so far")
    owner.part("prt_6", "msg_2", "ses_1", type="retry", error={"data": {"message": "overloaded"}})
    owner.message("msg_3", "ses_1", "assistant", parentID="msg_1", error={"name": "Abort", "data": {}})
    source = source_of(owner)
    (file,) = source.discover()
    records = read(source, file)[0]
    assert records[0].title_rank == 1
    assert [(record.kind, record.blocks[0].kind if record.blocks else "") for record in records[1:]] == [
        ("attachment", "image"), ("attachment", "document"), ("boundary", ""), ("command", "text"),
        ("summary", "text"), ("system", "text"), ("system", "text"),
    ]  # fmt: skip
    assert records[-1].blocks[0].text == "Abort"


def test_a_damaged_database_is_a_problem_and_the_older_files_are_still_found(tmp_path):
    (tmp_path / "opencode.db").write_bytes(b"garbage" * 1000)
    stored = OpenCodeStorage("s", "/home/ada/lib", "Old")
    stored.begin()
    stored.message("user", {"type": "text", "text": "hello"})
    stored.save(tmp_path)
    source = OpenCodeSource(OpenCodeRoots(tmp_path / "opencode.db", tmp_path / "storage"))
    assert [file.kind for file in source.discover()] == ["stored-session", "stored-message", "stored-part"]
    assert source.problems()[0][0] == str(tmp_path / "opencode.db")


def test_older_files_read_like_rows(tmp_path):
    stored = OpenCodeStorage("s", "/home/ada/lib", "Old")
    stored.begin()
    stored.message("user", {"type": "text", "text": "hello"})
    stored.message("assistant", stored.tool("bash", {"command": "ls"}, "a b"), {"type": "text", "text": "hi"})
    stored.save(tmp_path)
    source = OpenCodeSource(OpenCodeRoots(tmp_path / "none.db", tmp_path / "storage"))
    assert {file.session for file in source.discover()} == {stored.id}
    records = [(file, record) for file in source.discover() for record in read(source, file)[0]]
    assert [record.kind for _, record in records] == ["title", "prompt", "call", "reply"]
    assert {record.session for _, record in records} == {stored.id}
    assert {record.cwd for _, record in records} == {"/home/ada/lib"}
    assert records[2][1].usage.input == 900
    for file, record in records:
        raw = Path(file.path).read_bytes()[record.offset : record.offset + record.length]
        assert json.loads(raw)["id"] == record.uid


def test_a_stored_part_whose_message_is_gone_tells_its_speaker_by_its_times(tmp_path):
    folder = tmp_path / "storage" / "part" / "msg_1"
    folder.mkdir(parents=True)
    base = {"messageID": "msg_1", "sessionID": "ses_1", "type": "text", "text": "x"}
    (folder / "prt_1.json").write_text(json.dumps({"id": "prt_1", **base, "time": {"start": NOW}}))
    source = OpenCodeSource(OpenCodeRoots(tmp_path / "none.db", tmp_path / "storage"))
    (file,) = source.discover()
    (record,) = read(source, file)[0]
    assert (record.kind, record.role, record.session, record.time) == ("reply", "assistant", "ses_1", NOW)


def test_discovery_leaves_no_file_beside_a_resting_database(owner):
    conversation(owner)
    owner.close()
    before = sorted(os.listdir(owner.path.parent))
    source = source_of(owner)
    assert [len(read(source, file)[0]) for file in source.discover()] == [6]
    assert sorted(os.listdir(owner.path.parent)) == before == ["opencode.db"]


KEYS = ["table", "row", "id", "data", "type", "text", "state", "status", "input", "output", "metadata", "time", "start",
        "session_id", "sessionID", "message_id", "messageID", "title", "revert", "tokens", "cache", "read", "path",
        "cwd", "role", "error", "summary", "mime", "source", "exit", "parentID", "time_created", "created"]  # fmt: skip
WORDS = ["session", "message", "part", "text", "tool", "file", "reasoning", "{}", '{"type":"text","text":1}', "[", ""]
scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(WORDS) | st.text(max_size=4)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=6),
    max_leaves=12,
)
lines = st.fixed_dictionaries(
    {"table": st.sampled_from(WORDS[:3]), "row": st.dictionaries(st.sampled_from(KEYS), values, max_size=6)}
)


@settings(max_examples=300)
@given(st.lists(lines | values, max_size=5), st.sampled_from(["session", "stored-part", "stored-session"]))
def test_any_sequence_of_values_gives_records_or_named_skips(sequence, kind):
    file = SourceFile("opencode", "/x", kind, "s", 0, 0, 0, 0)
    assert_total(lambda state: OpenCodeNormaliser(file, state, lambda *_: {}), sequence)
