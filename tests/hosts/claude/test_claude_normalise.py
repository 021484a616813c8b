"""Claude Code's records: what each becomes, and that nothing strange stops the reader."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fabula.hosts.claude.meta import AgentMeta
from fabula.hosts.claude.normalise import TranscriptNormaliser
from fabula.kernel.records import KINDS, Block, Record, SourceFile, Usage
from fabula.kernel.values import replace

MAIN = SourceFile("claude", "/home/u/.claude/projects/-p/S1.jsonl", "session", "S1", 1, 2, 3, 4)
AGENT = replace(
    MAIN, path="/c/projects/-p/S1/subagents/agent-a1.jsonl", kind="subagent", session="a1", parent_session="S1"
)
ENVELOPE: dict[str, Any] = {
    "uuid": "u1", "parentUuid": "u0", "sessionId": "S1", "timestamp": "2026-02-03T04:05:06.789Z", "cwd": "/w",
    "gitBranch": "main", "isSidechain": False, "version": "2.1.217", "userType": "external", "entrypoint": "cli",
}  # fmt: skip


def normaliser(file: SourceFile = MAIN, meta: AgentMeta | None = None) -> TranscriptNormaliser:
    return TranscriptNormaliser(file, None, "/home/u/.claude/projects/-p/S1/tool-results", meta)


def read(value: dict[str, Any], file: SourceFile = MAIN) -> Record:
    record = normaliser(file).normalise(value, 7, 11)
    assert isinstance(record, Record), record
    return record


def user(content: Any, **more: Any) -> dict[str, Any]:
    return {**ENVELOPE, "type": "user", "message": {"role": "user", "content": content}, **more}


def assistant(*content: dict[str, Any], **more: Any) -> dict[str, Any]:
    usage = {"input_tokens": 3, "output_tokens": 5, "cache_read_input_tokens": 7, "cache_creation_input_tokens": 9}
    message = {"role": "assistant", "id": "m1", "model": "some-model", "content": list(content), "usage": usage}
    return {**ENVELOPE, "type": "assistant", "requestId": "r1", "message": message, **more}


def result(content: Any, **more: Any) -> dict[str, Any]:
    return user([{"type": "tool_result", "tool_use_id": "t1", "content": content}], **more)


def attachment(kind: str, **fields: Any) -> dict[str, Any]:
    return {**ENVELOPE, "type": "attachment", "attachment": {"type": kind, **fields}}


def test_the_envelope_is_read() -> None:
    record = read(user("hello", promptId="p1", sourceToolAssistantUUID="u9"))
    assert (record.uid, record.parent, record.source, record.session) == ("u1", "u0", "u9", "S1")
    assert (record.offset, record.length, record.time, record.prompt_id) == (7, 11, 1770091506789, "p1")
    assert (record.cwd, record.branch, record.raw_type, record.has_id) == ("/w", "main", "user", True)
    assert (record.sidechain, record.sdk, record.live) == (False, False, True)


@pytest.mark.parametrize(
    ("value", "kind", "role"),
    [
        (user("Why is it slow?"), "prompt", "user"),
        (user([{"type": "text", "text": "Why?"}, {"type": "image", "source": {}}]), "prompt", "user"),
        (result("ok"), "result", "tool"),
        (user("Summary of before", isCompactSummary=True), "summary", "system"),
        (user("This session is being continued from a previous conversation that ran out"), "summary", "system"),
        (user("stop", interruptedMessageId="m1"), "notice", "system"),
        (user("[Request interrupted by user for tool use]"), "notice", "system"),
        (user("<task-notification>\n<task-id>1</task-id>"), "notice", "system"),
        (user("<command-name>/compact</command-name>"), "command", "user"),
        (user("<command-message>init is running</command-message>"), "command", "user"),
        (user("<local-command-stdout>done</local-command-stdout>"), "command", "user"),
        (user("<local-command-caveat>Caveat</local-command-caveat>", isMeta=True), "command", "user"),
        (user("<bash-input>ls</bash-input>"), "command", "user"),
        (user("<bash-stdout>a b</bash-stdout>"), "command", "user"),
        (user("<system-reminder>Mind</system-reminder>"), "notice", "system"),
        (user("\n <fork-boilerplate>x"), "notice", "system"),
        (user("Task done", origin={"kind": "task-notification"}), "notice", "system"),
        (user("From a peer", origin={"kind": "peer"}), "notice", "system"),
        (user("Typed", origin={"kind": "human"}), "prompt", "user"),
        (user("Injected", isMeta=True), "notice", "system"),
        (user("<b>bold</b> words are plain words"), "prompt", "user"),
        (user([]), "other", "user"),
        (user("A task of a subagent inside the file", isSidechain=True), "task", "user"),
        (assistant({"type": "text", "text": "Because"}), "reply", "assistant"),
        (assistant({"type": "thinking", "thinking": "Hm", "signature": "s"}), "thought", "assistant"),
        (assistant({"type": "tool_use", "id": "t1", "name": "Bash", "input": {}}), "call", "assistant"),
        (assistant({"type": "text", "text": "x"}, {"type": "tool_use", "id": "t", "name": "B"}), "reply", "assistant"),
        (assistant({"type": "text", "text": "\n\n"}), "reply", "assistant"),
        (assistant({"type": "fallback", "from": {}, "to": {}}), "other", "assistant"),
        (assistant({"type": "text", "text": "API Error: 529"}, isApiErrorMessage=True), "notice", "system"),
        ({**ENVELOPE, "type": "progress", "data": {"type": "bash_progress"}}, "progress", "system"),
        ({**ENVELOPE, "type": "system", "subtype": "turn_duration", "durationMs": 3}, "system", "system"),
        ({**ENVELOPE, "type": "system", "subtype": "local_command", "content": "<x>"}, "command", "system"),
        ({**ENVELOPE, "type": "hologram", "beam": 1}, "other", ""),
    ],
)
def test_kinds_and_roles(value: dict[str, Any], kind: str, role: str) -> None:
    record = read(value)
    assert (record.kind, record.role) == (kind, role)


def test_marked_text_before_the_persons_words_is_not_theirs() -> None:
    record = read(
        user([{"type": "text", "text": "<ide_opened_file>a.py</ide_opened_file>"}, {"type": "text", "text": "Fix it"}])
    )
    assert record.kind == "prompt"
    assert [(block.kind, block.text[:6]) for block in record.blocks] == [("other", "<ide_o"), ("text", "Fix it")]


def test_blocks_are_read_with_their_joins() -> None:
    call = read(assistant({"type": "tool_use", "id": "t1", "name": "Edit", "input": {"file_path": "/a"}}))
    assert call.blocks == [Block("call", "", "Edit", "t1", {"file_path": "/a"})]
    parts = [{"type": "text", "text": "one"}, {"type": "image"}, {"type": "tool_reference", "tool_name": "Read"}, "two"]
    answer = read(user([{"type": "tool_result", "tool_use_id": "t1", "content": parts, "is_error": True}]))
    assert answer.blocks == [Block("result", "one\nRead\ntwo", "", "t1", None, failed=True, images=1)]


def test_usage_is_told_apart_by_response() -> None:
    record = read(assistant({"type": "text", "text": "x"}))
    assert record.usage == Usage("m1:r1", "some-model", 3, 5, 7, 9)
    assert read(assistant({"type": "text", "text": "x"}, requestId=None)).usage == Usage(
        "m1:", "some-model", 3, 5, 7, 9
    )


def test_what_the_client_made_up_bills_nothing() -> None:
    value = assistant({"type": "text", "text": "No response requested."})
    value["message"]["model"] = "<synthetic>"
    record = read(value)
    assert (record.kind, record.usage) == ("notice", None)


def test_the_structured_copy_of_a_result_is_never_text() -> None:
    record = read(result("edited", toolUseResult={"originalFile": "whole file", "filePath": "/a"}))
    assert "whole" not in repr(record)


def test_a_result_names_the_agent_that_its_call_started() -> None:
    record = read(result("done", toolUseResult={"agentId": "a1", "status": "completed"}))
    assert record.blocks[0].input == {"agentId": "a1"}
    assert record.spawned_by == ""


@pytest.mark.parametrize(
    ("named", "resolved"),
    [
        ("/other/home/.claude/projects/-q/S1/tool-results/b1.txt", "b1.txt"),
        ("C:\\u\\projects\\-q\\S1\\tool-results\\b1.txt", "b1.txt"),
        ("/c/projects/-p/S2/tool-results/b1.txt", ""),
        ("/etc/passwd", ""),
        ("/c/S1/tool-results/..", ""),
        ("/c/S1/tool-results/", ""),
    ],
)
def test_a_persisted_result_is_followed_inside_its_own_session_only(named: str, resolved: str) -> None:
    stub = f"<persisted-output>\nOutput too large (51KB). Full output saved to: {named}\n\nPreview"
    for value in (result(stub), result("x", toolUseResult={"persistedOutputPath": named})):
        expected = {"persisted": f"/home/u/.claude/projects/-p/S1/tool-results/{resolved}"} if resolved else None
        assert read(value).blocks[0].input == expected


def test_a_subagent_goes_by_its_own_id_and_names_its_parent() -> None:
    normalise = normaliser(AGENT, AgentMeta("toolu_7", "look around", "")).normalise
    first = normalise(user("Find it", isSidechain=True, uuid="x1", agentId="a1"), 0, 1)
    second = normalise(assistant({"type": "text", "text": "found"}, isSidechain=True, uuid="x2"), 1, 1)
    third = normalise(user("Go on", isSidechain=True, uuid="x3"), 2, 1)
    assert isinstance(first, Record)
    assert isinstance(second, Record)
    assert isinstance(third, Record)
    assert (first.kind, first.session, first.parent_session, first.spawned_by) == ("task", "a1", "S1", "toolu_7")
    assert (first.title, first.title_rank, first.sidechain) == ("look around", 2, True)
    assert (second.session, second.spawned_by, second.title) == ("a1", "toolu_7", "")
    assert (third.kind, third.title) == ("task", "")


def test_without_meta_a_subagent_is_joined_by_its_agent_id() -> None:
    assert read(user("Find it", isSidechain=True), AGENT).spawned_by == "a1"


def test_a_subagent_of_the_old_layout_learns_its_parent_from_its_records() -> None:
    old = replace(AGENT, path="/c/projects/-p/agent-a1.jsonl", parent_session="")
    record = read(user("Find it", isSidechain=True), old)
    assert (record.session, record.parent_session) == ("a1", "S1")


def test_a_sidechain_inside_a_main_file_stays_in_the_main_session() -> None:
    record = read(assistant({"type": "text", "text": "x"}, isSidechain=True, agentId="a1"))
    assert (record.session, record.sidechain, record.spawned_by) == ("S1", True, "")


def test_a_result_linked_to_its_call_is_no_sidechain() -> None:
    record = read(result("ok", sourceToolAssistantUUID="u5", parentUuid="u4"))
    assert (record.source, record.parent, record.sidechain) == ("u5", "u4", False)


@pytest.mark.parametrize("marks", [{"entrypoint": "sdk-py"}, {"entrypoint": "sdk-cli"}, {"promptSource": "sdk"}])
def test_what_a_program_asked_is_marked(marks: dict[str, str]) -> None:
    record = read(user("Do it", **marks))
    assert (record.kind, record.sdk) == ("prompt", True)


def test_a_boundary_points_at_the_leaf_before_it() -> None:
    value = {**ENVELOPE, "type": "system", "subtype": "compact_boundary", "parentUuid": None, "logicalParentUuid": "u0"}
    record = read({**value, "content": "Conversation compacted"})
    assert (record.kind, record.parent, record.source) == ("boundary", "", "u0")


def test_an_api_error_says_what_it_was() -> None:
    error = {"status": 529, "error": {"type": "error", "error": {"message": "Overloaded"}}}
    record = read({**ENVELOPE, "type": "system", "subtype": "api_error", "error": error})
    assert [block.text for block in record.blocks] == ["Overloaded"]
    assert record.raw_type == "system:api_error"


def test_a_prompt_typed_while_the_agent_worked_is_a_prompt() -> None:
    typed = attachment(
        "queued_command", prompt="also this", commandMode="prompt", source_uuid="q1", origin={"kind": "human"}
    )
    record = read(typed)
    assert (record.kind, record.role, record.source, record.blocks) == (
        "prompt",
        "user",
        "q1",
        [Block("text", "also this")],
    )
    listed = read(attachment("queued_command", prompt=[{"type": "text", "text": "and this"}], commandMode="prompt"))
    assert (listed.kind, listed.blocks[0].text) == ("prompt", "and this")


@pytest.mark.parametrize(
    "fields",
    [
        {"prompt": "<task-notification>x", "commandMode": "prompt"},
        {"prompt": "x", "commandMode": "task-notification"},
        {"prompt": "x", "commandMode": "prompt", "origin": {"kind": "coordinator"}},
        {"prompt": None, "commandMode": "prompt"},
    ],
)
def test_what_a_machine_queued_is_a_notice(fields: dict[str, Any]) -> None:
    assert read(attachment("queued_command", **fields)).kind == "notice"


def test_attachments_have_text_where_it_is_about_the_work() -> None:
    assert read(attachment("edited_text_file", filename="/a.py", snippet="1 x")).blocks[0].text == "/a.py\n1 x"
    assert read(attachment("hook_additional_context", content=["be", 7, "brief"])).blocks[0].text == "be\nbrief"
    assert read(attachment("hook_success", content="", stdout="fine", stderr="warn")).blocks[0].text == "fine\nwarn"
    for kind in ("task_reminder", "skill_listing", "nested_memory", "file", "some_new_delta"):
        record = read(attachment(kind, content="context for the model"))
        assert (record.kind, record.blocks) == ("attachment", [])


@pytest.mark.parametrize(
    ("value", "title", "rank"),
    [
        ({"type": "custom-title", "customTitle": "Mine", "sessionId": "S1"}, "Mine", 3),
        ({"type": "agent-name", "agentName": "scout", "sessionId": "S1"}, "scout", 2),
        ({"type": "ai-title", "aiTitle": "Theirs", "sessionId": "S1"}, "Theirs", 2),
        ({"type": "summary", "summary": "Old", "leafUuid": "l1"}, "Old", 1),
    ],
)
def test_titles_rank_by_who_gave_them(value: dict[str, Any], title: str, rank: int) -> None:
    record = read(value)
    assert (record.kind, record.title, record.title_rank, record.has_id) == ("title", title, rank, False)


def test_a_summary_names_the_leaf_whose_session_it_titles() -> None:
    assert read({"type": "summary", "summary": "Old", "leafUuid": "l1"}).source == "l1"


def test_what_is_written_again_is_the_same_record() -> None:
    link = {"type": "pr-link", "prNumber": 4, "prUrl": "https://h/4", "prRepository": "o/r", "sessionId": "S1"}
    first, again = (read({**link, "timestamp": f"2026-02-03T04:05:0{n}.000Z"}) for n in (1, 2))
    assert first.uid == again.uid
    assert first.blocks[0].text == "o/r 4 https://h/4"
    assert read({**link, "prUrl": "https://h/5"}).uid != first.uid
    assert read({**link, "sessionId": "S2"}).uid != first.uid


def test_an_id_that_was_derived_does_not_depend_on_what_was_read_before() -> None:
    title = {"type": "custom-title", "customTitle": "Mine"}
    busy = normaliser()
    busy.normalise(user("x", sessionId="S9"), 0, 1)
    late = busy.normalise(title, 5, 1)
    assert isinstance(late, Record)
    assert late.uid == read(title).uid


def test_snapshots_keep_what_was_backed_up_and_are_never_named_by_their_message() -> None:
    backups = {"a.py": {"backupFileName": "h@v1", "version": 1}, "b.py": {"backupFileName": None}}
    inner = {"messageId": "u1", "timestamp": "2026-02-03T04:05:06.000Z", "trackedFileBackups": backups}
    value = {"type": "file-history-snapshot", "messageId": "u1", "snapshot": inner, "isSnapshotUpdate": False}
    record = read(value)
    assert (record.kind, record.source, record.time) == ("snapshot", "u1", 1770091506000)
    assert record.uid.startswith("fab-")
    assert record.blocks[0].input == {"backups": backups}
    assert normaliser().normalise({**value, "snapshot": {**inner, "trackedFileBackups": {}}}, 0, 1) == value["type"]
    delta = {"type": "file-history-delta", "snapshotMessageId": "u1", "trackingPath": "c.py", "backup": {"version": 2}}
    assert read(delta).blocks[0].input == {"backups": {"c.py": {"version": 2}}}


def test_queued_words_stay_findable_and_the_hosts_are_kept_quietly() -> None:
    value = {"type": "queue-operation", "operation": "enqueue", "content": "check again", "sessionId": "S1"}
    assert (read(value).kind, read(value).blocks[0].text) == ("attachment", "check again")
    assert read({**value, "content": "<task-notification>x"}).kind == "other"
    assert normaliser().normalise({"type": "queue-operation", "operation": "dequeue"}, 0, 1) == "queue-operation"


@pytest.mark.parametrize("kind", ["mode", "permission-mode", "cost-state", "worktree-state"])
def test_state_of_the_client_is_counted_under_its_name(kind: str) -> None:
    assert normaliser().normalise({"type": kind, "sessionId": "S1"}, 0, 1) == kind


@pytest.mark.parametrize(
    "value",
    [{}, {"type": None}, {"type": ["user"]}, {"kind": "event"}, {"type": "event", "at": 1},
     {"type": "user", "text": "hi"}, {"type": "session_meta", "payload": {}}],
)  # fmt: skip
def test_objects_that_are_no_records_of_this_host_are_foreign(value: dict[str, Any]) -> None:
    assert normaliser().normalise(value, 0, 1) == "foreign"


def test_records_without_session_go_to_the_one_named_last_and_the_state_remembers_it() -> None:
    first = normaliser()
    first.normalise(user("x", sessionId="S7"), 0, 1)
    state = json.loads(json.dumps(first.state))
    later = TranscriptNormaliser(MAIN, state, "").normalise({"type": "ai-title", "aiTitle": "T"}, 5, 1)
    assert isinstance(later, Record)
    assert later.session == "S7"
    assert read({"type": "ai-title", "aiTitle": "T"}).session == "S1"


ODD = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=30),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["type", "text", "content", "kind", "error", "message", "id"]), inner, max_size=3
        )
    ),
    max_leaves=6,
)
FIELDS = [
    "uuid", "parentUuid", "sessionId", "timestamp", "promptId", "isSidechain", "isMeta", "message", "toolUseResult",
    "attachment", "snapshot", "origin", "subtype", "content", "error", "hookErrors", "requestId", "summary", "leafUuid",
    "customTitle", "aiTitle", "lastPrompt", "prUrl", "trackingPath", "backup", "cwd", "gitBranch", "entrypoint",
    "promptSource", "sourceToolAssistantUUID", "isCompactSummary", "interruptedMessageId", "messageId",
]  # fmt: skip
TYPES = ["user", "assistant", "system", "attachment", "progress", "summary", "custom-title", "ai-title", "agent-name",
         "last-prompt", "queue-operation", "pr-link", "file-history-snapshot", "file-history-delta", "mode",
         "new-type"]  # fmt: skip


@settings(max_examples=400, deadline=None)
@given(
    st.sampled_from(TYPES), st.dictionaries(st.sampled_from(FIELDS), ODD, max_size=12), st.sampled_from([MAIN, AGENT])
)
def test_no_field_of_any_type_stops_the_reader(kind: str, fields: dict[str, Any], file: SourceFile) -> None:
    for value in ({**fields, "type": kind}, {**ENVELOPE, **fields, "type": kind}):
        record = normaliser(file).normalise(value, 3, 4)
        if isinstance(record, str):
            assert record
            continue
        assert record.kind in KINDS
        assert record.uid
        assert record.session
        texts = [record.uid, record.session, record.parent, record.source, record.prompt_id, record.spawned_by,
                 record.title, record.cwd, record.branch, record.raw_type, record.role,
                 record.parent_session]  # fmt: skip
        texts += [text for block in record.blocks for text in (block.text, block.tool, block.tool_id)]
        assert all(isinstance(text, str) for text in texts)
        assert record.time is None or isinstance(record.time, int)
        assert all(block.input is None or isinstance(block.input, dict) for block in record.blocks)


@pytest.mark.parametrize(
    "value",
    [
        user([{"type": "text", "text": None}]),
        user("x", promptId={"a": 1}),
        user("x", parentUuid=["u0"]),
        {"type": "file-history-snapshot", "messageId": "u", "snapshot": []},
        {**ENVELOPE, "type": "user"},
        {**ENVELOPE, "type": "assistant", "message": "text"},
        {**ENVELOPE, "type": "user", "mesage": {"content": "misspelt"}},
    ],
)
def test_named_oddities_raise_nothing(value: dict[str, Any]) -> None:
    assert isinstance(normaliser().normalise(value, 0, 1), Record | str)


def test_content_too_deep_to_be_canonical_still_gets_an_id() -> None:
    deep: Any = 1
    for _ in range(5_000):
        deep = [deep]
    assert read({"type": "new-type", "sessionId": "S1", "deep": deep}).uid.startswith("fab-")
