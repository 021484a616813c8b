"""Gemini CLI chats: documents, and logs that append a message again whenever it grew."""

from __future__ import annotations

import json
from collections import Counter

from hypothesis import example, given, settings
from hypothesis import strategies as st

from fabula.hosts.gemini.normaliser import GeminiNormaliser
from fabula.hosts.gemini.prompts import PromptLogNormaliser
from fabula.kernel.records import KINDS, Record, SourceFile
from fabula.kernel.values import replace

SESSION = "5f0c0000-0000-4000-8000-00000000aaaa"
ASK, ANSWER, NEXT = (f"6a{n:06d}-0000-4000-8000-000000000000" for n in range(3))


def source(session="", parent=""):
    return SourceFile("gemini", "/x/session.jsonl", "session", session, 0, 0, 0, 0, parent)


def head(**fields):
    return {"sessionId": SESSION, "projectHash": "h", "startTime": "2026-03-01T10:00:00Z", **fields}


def message(identity, kind, content, **fields):
    return {"id": identity, "timestamp": "2026-03-01T10:00:01Z", "type": kind, "content": content, **fields}


def tool(identity, name, output=None, **fields):
    use = {"id": identity, "name": name, "args": {"command": "ls"}, **fields}
    if output is not None:
        use |= {"status": "success", "result": [response(identity, name, {"output": output})]}
    return use


def response(identity, name, answer):
    return {"functionResponse": {"id": identity, "name": name, "response": answer}}


def read(values, file=None):
    """Return (records, skipped kinds); the state crosses a save after each value."""
    records, skipped, state = [], Counter(), None
    for offset, value in enumerate(values):
        normaliser = GeminiNormaliser(file or source(), state, "/home/ada/notes")
        found = normaliser.normalise(value, offset, 1)
        state = json.loads(json.dumps(normaliser.state))
        if isinstance(found, Record):
            records.append(found)
        else:
            skipped[found] += 1
    return records, skipped


def test_a_document_reads_as_prompt_and_answer_with_its_calls():
    records, skipped = read([
        head(summary="Slow start"),
        message(ASK, "user", "why slow?"),
        message(ANSWER, "gemini", "It sleeps.", model="gemini-3", thoughts=[{"subject": "Time", "description": "it"}],
                toolCalls=[tool("c1", "run_shell_command", "3s")],
                tokens={"input": 100, "output": 10, "cached": 40, "thoughts": 5, "tool": 1}),
        message("i1", "info", "Request cancelled."),
    ])  # fmt: skip
    prompt, answer, note = records
    assert (prompt.kind, prompt.uid, prompt.session, prompt.cwd) == ("prompt", ASK, SESSION, "/home/ada/notes")
    assert (prompt.title, prompt.title_rank) == ("Slow start", 2)
    assert (answer.kind, answer.prompt_id) == ("call", ASK)
    assert [block.kind for block in answer.blocks] == ["thought", "text", "call", "result"]
    assert answer.blocks[0].text == "Time\nit"
    assert (answer.blocks[2].tool, answer.blocks[2].input, answer.blocks[3].text) == (
        "run_shell_command", {"command": "ls"}, "3s",
    )  # fmt: skip
    usage = answer.usage
    assert (usage.model, usage.input, usage.cache_read, usage.output) == ("gemini-3", 61, 40, 15)
    assert (note.kind, note.blocks[0].text) == ("system", "Request cancelled.")
    assert answer.time == 1772359201000
    assert skipped == {"head": 1}


def test_a_message_that_is_appended_again_makes_a_record_of_what_is_new_alone():
    records, skipped = read([
        head(),
        message(ASK, "user", [{"text": "list"}]),
        message(ANSWER, "gemini", "Looking.", tokens={"input": 9, "output": 1}),
        message(ANSWER, "gemini", "Looking.", tokens={"input": 9, "output": 1}, toolCalls=[tool("c1", "ls")]),
        message(ANSWER, "gemini", "Looking.", tokens={"input": 9, "output": 1}, toolCalls=[tool("c1", "ls", "a b")]),
        message(ANSWER, "gemini", "Looking.", tokens={"input": 9, "output": 1}, toolCalls=[tool("c1", "ls", "a b")]),
        message("u2", "user", [response("c1", "ls", {"output": "a b"})]),
        {"$set": {"lastUpdated": "2026-03-01T10:00:02Z"}},
    ])  # fmt: skip
    assert [[block.kind for block in record.blocks] for record in records] == [["text"], ["text"], ["call"], ["result"]]
    assert [record.kind for record in records] == ["prompt", "reply", "call", "result"]
    assert len({record.uid for record in records}) == 4
    assert len({record.usage.response for record in records if record.usage}) == 1
    assert skipped == {"head": 1, "message/repeated": 1, "message/answers told before": 1, "$set/lastUpdated": 1}


def test_answers_that_no_call_told_are_results():
    records, _ = read([head(), message("u2", "user", [response("c9", "ls", {"error": "no such folder"})])])
    assert (records[0].kind, records[0].blocks[0].text, records[0].blocks[0].failed) == (
        "result",
        "no such folder",
        True,
    )


def test_failures_are_known_by_status_by_error_and_by_exit_code():
    shell = "Output: cat: no\nExit Code: 3\nProcess Group PGID: 1"
    records, _ = read([
        head(),
        message(ANSWER, "gemini", "", toolCalls=[
            tool("c1", "run_shell_command", shell),
            tool("c2", "run_shell_command", shell.replace("3", "0")),
            tool("c3", "read_file", shell),
            {**tool("c4", "read_file"), "status": "error", "resultDisplay": "missing"},
            tool("c5", "read_file"),
        ]),
    ])  # fmt: skip
    results = [(block.tool_id, block.failed) for block in records[0].blocks if block.kind == "result"]
    assert results == [("c1", True), ("c2", False), ("c3", False), ("c4", True)]
    assert records[0].blocks[-2].text == "missing"


def test_the_clients_warning_around_an_output_is_left_out():
    wrapped = "<untrusted_context>\nOutput: a b\n</untrusted_context>"
    records, _ = read([head(), message(ANSWER, "gemini", "", toolCalls=[tool("c1", "run_shell_command", wrapped)])])
    assert records[0].blocks[1].text == "Output: a b"


def test_a_rewind_names_the_first_message_that_is_taken_back():
    records, _ = read([
        head(), message(ASK, "user", "one"), message(ANSWER, "gemini", "two"), message(NEXT, "user", "three"),
        {"$rewindTo": ANSWER}, {"$rewindTo": "unknown"},
    ])  # fmt: skip
    assert [(record.kind, record.rewinds_to) for record in records[3:]] == [("boundary", ANSWER), ("boundary", ASK)]


def test_a_history_written_whole_gives_only_what_no_line_has_told():
    told = [message(ASK, "user", [{"text": "one"}]), message(ANSWER, "gemini", [{"text": "two"}])]
    new = message("s1", "user", [{"text": "<state_snapshot>we did one and two</state_snapshot>"}])
    records, skipped = read([head(), *told, {"$set": {"messages": told}}, {"$set": {"messages": [new, told[1]]}}])
    assert [record.kind for record in records] == ["prompt", "reply", "summary"]
    assert skipped["$set/messages"] == 1


def test_two_unknown_messages_in_one_line_are_one_summary():
    old = [message("a", "user", "first"), message("b", "gemini", "second")]
    (record,), _ = read([{**head(), "messages": old}])
    assert (record.kind, [block.text for block in record.blocks]) == ("summary", ["first", "second"])


def test_what_the_client_writes_under_the_users_name_is_a_notice_and_commands_are_commands():
    records, _ = read([
        head(),
        message("n", "user", [{"text": "<session_context>\nToday is…"}]),
        message("c", "user", "/memory show"),
        message("p", "user", "/home/ada is full, why?"),
    ])  # fmt: skip
    assert [record.kind for record in records] == ["notice", "command", "prompt"]


def test_what_a_person_saw_is_the_prompt_and_what_was_pasted_for_them_a_document():
    sent = [{"text": "explain @a.py"}, {"text": "--- a.py ---\nx = 1"}, {"inlineData": {"mimeType": "image/png"}}]
    (record,), _ = read([message(ASK, "user", sent, displayContent=[{"text": "explain @a.py"}])])
    assert [(block.kind, block.text) for block in record.blocks] == [
        ("text", "explain @a.py"), ("document", "--- a.py ---\nx = 1"), ("image", ""),
    ]  # fmt: skip


def test_a_subagents_chat_is_its_own_session_below_its_parents():
    records, _ = read([head(sessionId="agent-1"), message(ASK, "user", "look")], source("agent-1", "parent-1"))
    (task,) = records
    assert (task.kind, task.session, task.sidechain, task.spawned_by) == ("task", "agent-1", True, "agent-1")
    assert (task.parent_session, task.prompt_id) == ("parent-1", "")


def test_a_title_that_is_set_later_is_a_title_record():
    records, _ = read([head(), {"$set": {"summary": "Harbour works"}}])
    assert [(record.kind, record.title, record.title_rank) for record in records] == [("title", "Harbour works", 2)]


def test_ids_that_are_no_uuids_are_bound_to_their_session():
    one, _ = read([head(), message("m1", "user", "same")])
    two, _ = read([head(sessionId="other"), message("m1", "user", "same")])
    again, _ = read([head(), message("m1", "user", "same")])
    assert one[0].uid == again[0].uid != two[0].uid


def test_logged_prompts_whose_chat_is_there_are_skipped():
    reader = PromptLogNormaliser({"5f0c0000"}, None, "/home/ada")
    entry = {"sessionId": SESSION, "messageId": 0, "type": "user", "message": "hi", "timestamp": "2026-03-01T10:00:00Z"}
    assert reader.normalise(entry, 0, 1) == "logs/in its chat"
    found = reader.normalise({**entry, "sessionId": "gone"}, 0, 1)
    assert (found.kind, found.session, found.cwd) == ("prompt", "gone", "/home/ada")
    assert reader.normalise({**entry, "sessionId": "gone", "message": "/help"}, 0, 1).kind == "command"


def test_a_line_that_was_read_before_reads_the_same_from_the_saved_state():
    lines = [
        head(),
        message(ASK, "user", "one"),
        message(ANSWER, "gemini", "two", tokens={"input": 9}),
        message(ANSWER, "gemini", "two", tokens={"input": 9}, toolCalls=[tool("c1", "ls", "a"), tool("c2", "ls")]),
        message(
            ANSWER, "gemini", "two, more", tokens={"input": 9}, toolCalls=[tool("c1", "ls", "a"), tool("c2", "ls", "b")]
        ),
        message("u1", "user", [response("c9", "ls", {"output": "late"})]),
        {"$set": {"messages": [message("s1", "user", "<state_snapshot>x"), message("s2", "gemini", "ok")]}},
        {"$set": {"messages": [message("s3", "user", "<state_snapshot>y")]}},
    ]
    normaliser = GeminiNormaliser(source(), None, "/x")
    found = [(at, normaliser.normalise(line, at * 10, 9)) for at, line in enumerate(lines)]
    again = GeminiNormaliser(source(), json.loads(json.dumps(normaliser.state)), "/x")
    records = [(at, record) for at, record in found if isinstance(record, Record)]
    assert len(records) == 7
    for at, record in reversed(records):
        assert replace(again.normalise(lines[at], at * 10, 9), prompt_id="") == replace(record, prompt_id="")


KEYS = ["id", "type", "content", "text", "toolCalls", "thoughts", "tokens", "result", "args", "name", "status", "$set",
        "$patch", "$rewindTo", "messages", "sessionId", "projectHash", "summary", "directories", "functionResponse",
        "response", "output", "error", "displayContent", "inlineData", "mimeType", "input", "cached", "timestamp",
        "subject", "resultDisplay", "agentId"]  # fmt: skip
WORDS = ["user", "gemini", "info", "error", "success", "m1", "/help", "<session_context>", "run_shell_command", ""]
scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(WORDS) | st.text(max_size=4)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=6),
    max_leaves=14,
)
messages = st.fixed_dictionaries(
    {"id": st.sampled_from(["m1", "m2", ASK]), "type": st.sampled_from(["user", "gemini"]), "content": values},
    optional={"toolCalls": values, "thoughts": values, "tokens": values, "displayContent": values},
)


@settings(max_examples=300)
@given(st.lists(messages | values, max_size=6))
@example([{"sessionId": None, "messages": [None]}])
def test_any_sequence_of_values_gives_records_or_named_skips(sequence):
    records, skipped = read(sequence)
    assert len(records) + sum(skipped.values()) == len(sequence)
    for record in records:
        assert record.uid
        assert record.kind in KINDS
        assert all(isinstance(block.text, str) for block in record.blocks)


@given(values)
def test_the_log_of_prompts_survives_any_value(value):
    assert PromptLogNormaliser(set(), None, "").normalise(value, 0, 1)
