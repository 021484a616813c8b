"""GitHub Copilot CLI: logs of events, names of sessions, and the documents of older versions."""

from __future__ import annotations

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from fabula.hosts.copilot.normaliser import CopilotNormaliser
from fabula.hosts.copilot.source import CopilotSource
from fabula.hosts.copilot.timeline import TimelineNormaliser
from fabula.hosts.copilot.workspace import read_facts
from fabula.kernel.records import Record, SourceFile
from fabula.testing.copilot_session import CopilotSession
from fabula.testing.reader_laws import assert_total


def read(source, file, state=None):
    normaliser = source.normaliser(file, state)
    found = []
    for chunk in source.container(file).chunks():
        found += [normaliser.normalise(value.value, value.offset, value.length) for value in chunk.values]
    return [value for value in found if isinstance(value, Record)], [value for value in found if isinstance(value, str)]


def conversation():
    session = CopilotSession("s")
    session.begin()
    session.prompt("why do the bells ring?")
    session.event("system.message", role="system", content="You are…")
    session.answer("I look.", session.call("bash", command="ls /bells"), thought="Look.")
    session.result("no such bells\n<shellId: 0 completed with exit code 2>", exitCode=2)
    session.answer("They do not.")
    return session


def of(session, folder):
    session.save(folder)
    source = CopilotSource(folder)
    return source, [file for file in source.discover() if file.kind != "meta"]


def test_a_log_reads_as_one_record_a_message_and_a_result(tmp_path):
    session = conversation()
    source, (file,) = of(session, tmp_path)
    records, skipped = read(source, file)
    assert (file.path, file.session) == (f"{tmp_path}/session-state/{session.id}/events.jsonl", session.id)
    assert [record.kind for record in records] == ["prompt", "other", "call", "result", "other", "reply"]
    prompt, bill, call, result, _, reply = records
    assert {(record.session, record.cwd, record.branch) for record in records} == {(session.id, session.cwd, "main")}
    assert prompt.prompt_id == call.prompt_id == reply.prompt_id != ""
    assert [(block.kind, block.text) for block in call.blocks[:2]] == [("thought", "Look."), ("text", "I look.")]
    assert (call.blocks[2].tool, call.blocks[2].input) == ("bash", {"command": "ls /bells"})
    assert (result.source, result.blocks[0].tool_id) == (call.uid, call.blocks[2].tool_id)
    assert result.blocks[0].failed
    assert (bill.usage.input, bill.usage.output, bill.usage.cache_read, bill.usage.cache_write) == (200, 30, 600, 100)
    assert skipped == ["session.start", "system.message", "tool.execution_start"]


def test_a_line_that_was_read_before_reads_the_same_from_the_saved_state(tmp_path):
    session = conversation()
    session.subagent("look deeper", "Deeper.")
    session.event("session.context_changed", cwd="/elsewhere", branch="dev")
    session.prompt("and here?")
    session.shutdown()
    source, (file,) = of(session, tmp_path)
    values = [value for chunk in source.container(file).chunks() for value in chunk.values]
    normaliser = source.normaliser(file, None)
    found = [normaliser.normalise(value.value, value.offset, value.length) for value in values]
    assert [record.cwd for record in found if isinstance(record, Record)][-1] == "/elsewhere"
    again = source.normaliser(file, json.loads(json.dumps(normaliser.state)))
    for value, first in reversed(list(zip(values, found, strict=True))):
        assert again.normalise(value.value, value.offset, value.length) == first


def test_a_subagents_events_are_a_session_of_their_own_below_the_call_that_started_it(tmp_path):
    session = conversation()
    agent = session.subagent("look deeper", "Deeper.")
    source, (file,) = of(session, tmp_path)
    records = [record for record in read(source, file)[0] if record.kind != "other"]
    inside = [record for record in records if record.session == agent]
    assert [record.kind for record in inside] == ["task", "reply"]
    assert {(r.parent_session, r.sidechain, r.prompt_id) for r in inside} == {(session.id, True, "")}
    spawn = next(block.tool_id for record in records for block in record.blocks if block.tool == "task")
    assert {record.spawned_by for record in inside} == {spawn}
    assert records[-1].blocks[0].input == {"agentId": agent}
    assert records[-1].session == session.id


def test_tokens_are_counted_once(tmp_path):
    session = CopilotSession("old", metered=False)
    session.begin()
    session.prompt("ring")
    session.answer("Ding.")
    session.shutdown()
    source, (file,) = of(session, tmp_path)
    bills = [record.usage for record in read(source, file)[0] if record.usage]
    assert [(bill.model, bill.input, bill.output) for bill in bills] == [("gpt-5.5", 200, 30)]
    metered = conversation()
    metered.shutdown()
    source, files = of(metered, tmp_path)
    file = next(file for file in files if file.session == metered.id)
    assert len({record.usage.response for record in read(source, file)[0] if record.usage}) == 2
    assert "session.shutdown" in read(source, file)[1]


def test_what_the_client_says_and_what_a_person_runs_have_their_kinds(tmp_path):
    session = CopilotSession("s")
    session.begin()
    session.event("user.message", content="(a skill)", source="skill-bells")
    session.event("user.message", content="Go on.", isAutopilotContinuation=True)
    session.event("user.message", content="", attachments=[
        {"type": "file", "path": "/a.py"}, {"type": "selection", "filePath": "/b.py", "text": "x = 1"},
        {"type": "blob", "mimeType": "image/png", "displayName": "bell.png", "data": "x"}])  # fmt: skip
    session.event("tool.user_requested", toolCallId="c", toolName="bash", arguments={"command": "ls"})
    session.event("tool.execution_complete", toolCallId="c", success=False, error={"message": "denied"})
    session.event("assistant.reasoning", reasoningId="r", content="Hm.")
    session.event("assistant.message", messageId="m", content="So.", reasoningText="Hm.", toolRequests=[])
    session.event("assistant.message", messageId="m", content="", toolRequests=[
        {"toolCallId": "d", "name": "apply_patch", "arguments": "*** Begin Patch", "type": "custom"}])  # fmt: skip
    session.event("session.error", errorType="quota", message="no more")
    session.event("abort", reason="user_initiated")
    session.event("system.notification", content="<system_notification>done</system_notification>")
    session.event("session.compaction_complete", success=True, summaryContent="So far.", compactionTokensUsed={
        "model": "m", "inputTokens": 5, "outputTokens": 1})  # fmt: skip
    session.event("session.compaction_complete", success=False, error="too long")
    session.event("session.context_cleared", messagesCleared=3)
    session.event("session.of_tomorrow", text="?")
    session.event("user.message", content="")
    source, (file,) = of(session, tmp_path)
    records, skipped = read(source, file)
    assert [record.kind for record in records] == [
        "notice", "notice", "prompt", "command", "result", "thought", "reply", "call", "system", "system", "notice",
        "summary", "system", "boundary",
    ]  # fmt: skip
    assert [(b.kind, b.text, b.images) for b in records[2].blocks] == [
        ("document", "/a.py", 0), ("document", "/b.py\nx = 1", 0), ("image", "bell.png", 1),
    ]  # fmt: skip
    assert records[4].source == records[3].uid
    assert records[4].blocks[0].failed
    assert [block.kind for block in records[6].blocks] == ["text"]  # its thought was told before
    assert records[7].blocks[0].input == {"input": "*** Begin Patch"}
    assert records[11].usage.input == 5
    assert skipped == ["session.start", "session.of_tomorrow", "user.message/empty"]


def test_the_workspace_file_names_the_session(tmp_path):
    session = conversation()
    session.name, session.user_named = "It's: the bells", True
    session.save(tmp_path)
    source = CopilotSource(tmp_path)
    file = next(file for file in source.discover() if file.kind == "meta")
    ((title,), _) = read(source, file)
    assert (title.session, title.title, title.title_rank, title.cwd) == (session.id, "It's: the bells", 3, session.cwd)


def test_flat_yaml_is_read_as_far_as_it_is_flat():
    text = "a: plain\nb: 'it''s'\nc: \"t\\u00e9\"\nd: |-\n  folded\n  more\ne: null\n  nested: x\n# c\nbad\n"
    text += 'f:\ng: "open\n'
    assert read_facts(text) == {
        "a": "plain", "b": "it's", "c": "té", "d": "folded", "e": "", "f": "", "g": '"open',
    }  # fmt: skip


def test_flat_logs_and_what_is_no_session(tmp_path):
    state = tmp_path / "session-state"
    (state / "empty").mkdir(parents=True)
    (state / "x.lock").write_text("")
    (state / "abc.jsonl").write_text('{"type":"session.start","data":{"sessionId":"abc"},"id":"e"}\n')
    source = CopilotSource(tmp_path)
    (file,) = source.discover()
    assert (file.session, file.kind) == ("abc", "session")
    assert source.problems() == []
    assert list(CopilotSource(tmp_path / "none").discover()) == []


TIMELINE = {
    "sessionId": "11111111-2222-4333-8444-555555555555",
    "startTime": "2025-10-08T21:10:16.398Z",
    "chatMessages": [{"role": "user", "content": "ring"}],
    "timeline": [
        {"id": "e1", "timestamp": "2025-10-08T21:10:17.000Z", "type": "user", "text": "ring"},
        {"id": "e2", "timestamp": "2025-10-08T21:10:18.000Z", "type": "copilot", "text": "I look."},
        {"id": "e3", "timestamp": "2025-10-08T21:10:19.000Z", "type": "tool_call_requested", "callId": "c",
         "name": "bash", "intentionSummary": None, "arguments": {"command": "ls"}},
        {"id": "e4", "timestamp": "2025-10-08T21:10:20.000Z", "type": "tool_call_completed", "callId": "c",
         "name": "bash", "arguments": {"command": "ls"}, "result": {"type": "failure", "log": "no"}},
        {"id": "e5", "timestamp": "2025-10-08T21:10:21.000Z", "type": "tool_call_completed", "callId": "d",
         "name": "view", "arguments": {"path": "/a"}, "result": {"type": "rejected"}},
        {"id": "e6", "type": "error", "text": "quota"},
        {"id": "e7", "type": "info", "text": ""},
        {"type": "later"},
    ],
}  # fmt: skip


def test_the_oldest_documents_read_by_their_timeline(tmp_path):
    folder = tmp_path / "history-session-state"
    folder.mkdir()
    (folder / "session_x.json").write_text(json.dumps(TIMELINE, indent=1))
    source = CopilotSource(tmp_path)
    (file,) = source.discover()
    records, skipped = read(source, file)
    assert [record.kind for record in records] == ["prompt", "reply", "call", "result", "call", "system"]
    assert {record.session for record in records} == {TIMELINE["sessionId"]}
    assert records[3].source == records[2].uid
    assert [(block.kind, block.text, block.failed) for block in records[4].blocks] == [
        ("call", "", False), ("result", "rejected", True),
    ]  # fmt: skip
    assert skipped == ["head", "entry/info/empty", "entry/later"]


KEYS = ["type", "data", "id", "timestamp", "agentId", "content", "toolRequests", "toolCallId", "name", "arguments",
        "result", "error", "message", "success", "shellExecution", "exitCode", "modelMetrics", "usage", "inputTokens",
        "context", "cwd", "attachments", "source", "parentToolCallId", "interactionId", "summaryContent", "text",
        "reasoningText", "callId", "binaryResultsForLlm", "sessionId", "accounting"]  # fmt: skip
WORDS = ["user.message", "assistant.message", "assistant.reasoning", "tool.execution_complete", "session.shutdown",
         "session.usage_record", "session.start", "subagent.started", "session.compaction_complete", "user",
         "tool_call_completed", "x", ""]  # fmt: skip
scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(WORDS) | st.text(max_size=4)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=6),
    max_leaves=12,
)
events = st.fixed_dictionaries(
    {"type": st.sampled_from(WORDS), "data": st.dictionaries(st.sampled_from(KEYS), values, max_size=6)},
    optional={"id": values, "agentId": values, "timestamp": values},
)


@settings(max_examples=100)
@given(st.lists(events | values, max_size=5), st.sampled_from([CopilotNormaliser, TimelineNormaliser]))
def test_any_sequence_of_values_gives_records_or_named_skips(sequence, reader):
    file = SourceFile("copilot", "/x", "session", "s", 0, 0, 0, 0)
    assert_total(lambda state: reader(file, state), sequence)
