"""Codex rollouts of every age: what a line becomes, and what is counted instead."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from fabula.hosts.codex.normaliser import CodexNormaliser
from fabula.kernel.records import Record, SourceFile

SESSION = "01a20000-0000-7000-8000-00000000aaaa"
TURN = "01a20000-0000-7000-8000-0000000000t1"


def source(session=SESSION, path="/x/rollout.jsonl"):
    return SourceFile("codex", path, "session", session, 0, 0, 0, 0)


def line(kind, payload, time="2026-03-01T10:00:00.000Z", **outer):
    return {"timestamp": time, "type": kind, "payload": payload, **outer}


def meta(**fields):
    return line("session_meta", {"id": SESSION, "cwd": "/home/ada/lib", "git": {"branch": "main"}, **fields})


def item(kind, **fields):
    return line("response_item", {"type": kind, **fields})


def message(role, *texts, kind="input_text", **fields):
    return item("message", role=role, content=[{"type": kind, "text": text} for text in texts], **fields)


def event(kind, **fields):
    return line("event_msg", {"type": kind, **fields})


def read(lines, file=None, state=None):
    """Return (records, skipped kinds) of lines; the state crosses a save after each of them."""
    records, skipped = [], Counter()
    for offset, value in enumerate(lines):
        normaliser = CodexNormaliser(file or source(), state)
        found = normaliser.normalise(value, offset, 1)
        state = json.loads(json.dumps(normaliser.state))
        if isinstance(found, Record):
            records.append(found)
        else:
            skipped[found] += 1
    return records, skipped


def kinds(records):
    return [record.kind for record in records]


# ── who said what ────────────────────────────────────────────────────


def test_a_turn_of_a_current_rollout_reads_as_prompt_thought_call_result_reply():
    records, skipped = read([
        meta(),
        event("task_started", turn_id=TURN),
        message("developer", "<permissions instructions>be careful"),
        message("user", "# AGENTS.md instructions for /x", "<environment_context>\n<cwd>/x</cwd>"),
        line("turn_context", {"turn_id": TURN, "cwd": "/home/ada/lib/sub", "model": "gpt-6"}),
        message("user", "why is it slow?", id="msg_1"),
        event("user_message", message="why is it slow?"),
        item("reasoning", id="rs_1", summary=[{"type": "summary_text", "text": "Measure first."}]),
        item("function_call", name="exec_command", arguments='{"cmd": "time ./run"}', call_id="call_1"),
        item("function_call_output", call_id="call_1", output="Chunk ID: 1\nProcess exited with code 0\nOutput:\n3s"),
        event("agent_message", message="It sleeps."),
        message("assistant", "It sleeps.", kind="output_text", id="msg_2"),
    ])  # fmt: skip
    assert kinds(records) == ["notice", "notice", "prompt", "thought", "call", "result", "reply"]
    assert {record.session for record in records} == {SESSION}
    assert {record.prompt_id for record in records} == {TURN}
    prompt, thought, call, result, reply = records[2:]
    assert (prompt.cwd, prompt.branch, prompt.role) == ("/home/ada/lib/sub", "main", "user")
    assert thought.blocks[0].kind == "thought"
    assert (call.blocks[0].tool, call.blocks[0].input) == ("exec_command", {"cmd": "time ./run"})
    assert result.source == call.uid
    assert result.blocks[0].tool_id == call.blocks[0].tool_id == "call_1"
    assert not result.blocks[0].failed
    assert reply.blocks[0].text == "It sleeps."
    assert skipped == {
        "session_meta": 1, "turn_context": 1, "event_msg/task_started": 1, "event_msg/user_message": 1,
        "event_msg/agent_message": 1,
    }  # fmt: skip


def test_lines_from_before_the_envelope_read_the_same():
    records, skipped = read([
        {"id": SESSION, "timestamp": "2025-07-01T08:00:00Z", "instructions": None, "git": {"branch": "old"}},
        {"record_type": "state"},
        {"type": "message", "id": None, "role": "user",
         "content": [{"type": "input_text", "text": "<environment_context>\nCurrent working directory: /home/ada\n"}]},
        {"type": "message", "id": None, "role": "user", "content": [{"type": "input_text", "text": "list files"}]},
        {"type": "function_call", "id": "fc_1", "name": "shell", "arguments": '{"command":["ls"]}', "call_id": "c1"},
        {"type": "function_call_output", "call_id": "c1",
         "output": '{"output":"no such file","metadata":{"exit_code":2,"duration_seconds":0.1}}'},
    ])  # fmt: skip
    assert kinds(records) == ["notice", "prompt", "call", "result"]
    assert records[1].cwd == "/home/ada"
    assert records[1].branch == "old"
    assert records[1].time == 1751356800000
    assert (records[3].blocks[0].text, records[3].blocks[0].failed) == ("no such file", True)
    assert skipped == {"session_meta": 1, "state": 1}


def test_a_file_with_events_alone_is_read_from_its_events():
    records, _ = read([
        meta(),
        event("user_message", message="hello"),
        event("agent_reasoning", text="Greet back."),
        event("agent_message", message="hi there"),
    ])  # fmt: skip
    assert kinds(records) == ["prompt", "thought", "reply"]


def test_an_item_that_repeats_an_earlier_event_is_counted_not_indexed_again():
    records, skipped = read([meta(), event("user_message", message="hello"), message("user", "hello")])
    assert kinds(records) == ["prompt"]
    assert skipped["response_item/message/repeats an event"] == 1


def test_what_a_person_typed_beside_injected_text_is_a_prompt_of_its_own_words():
    records, _ = read([meta(), message("user", "<environment_context>…", "fix it")])
    assert kinds(records) == ["prompt"]
    assert [(block.kind, block.text) for block in records[0].blocks] == [
        ("other", "<environment_context>…"), ("text", "fix it"),
    ]  # fmt: skip


def test_the_hosts_own_word_for_an_item_beats_its_look():
    told = {"internal_chat_message_metadata_passthrough": {"content_item_kinds": ["user.text"]}}
    records, _ = read([meta(), message("user", "<skill>my markup</skill>", **told)])
    assert kinds(records) == ["prompt"]
    told = {"internal_chat_message_metadata_passthrough": {"content_item_kinds": ["hooks.context"]}}
    records, _ = read([meta(), message("user", "remember the milk", **told)])
    assert kinds(records) == ["notice"]


def test_a_shell_command_of_the_person_is_a_command_and_pictures_are_counted():
    records, _ = read([
        meta(),
        message("user", "<user_shell_command><command>ls</command></user_shell_command>"),
        item("message", role="user", content=[{"type": "input_image", "image_url": "data:…"}]),
    ])  # fmt: skip
    assert kinds(records) == ["command", "prompt"]
    assert records[1].blocks[0].images == 1


def test_lone_surrogates_in_arguments_become_valid_text():
    records, _ = read([meta(), item("function_call", name="f", arguments='{"cmd": "a\\ud800b"}', call_id="c")])
    assert records[0].blocks[0].input == {"cmd": "a\ufffdb"}


def test_rare_items_have_their_kinds():
    records, skipped = read([
        meta(),
        item("message", role="user", content="plain words"),
        item("message", role="assistant", content=["in", "parts"]),
        item("message", role="assistant", content=[]),
        item("ghost_snapshot", ghost_commit={"id": "abc"}),
        item("compaction", id="cmp_1", encrypted_content="…"),
        item("tool_search_output", call_id="t1", tools=[{"type": "text", "text": "found"}]),
        item("custom_tool_call", name="odd", input={"a": 1}, call_id="o1"),
        item("function_call", name="empty", arguments=None, call_id="e1"),
        line("inter_agent_communication", {"content": "from a colleague"}),
        line("inter_agent_communication", {"content": ["…"]}),
        line("surprise", {}),
        line("response_item", {"type": "surprise"}),
        event("surprise"),
        event("item_completed", item={"type": "Plan", "id": "p1", "text": "1. look"}),
        event("thread_name_updated"),
    ])  # fmt: skip
    assert kinds(records) == ["prompt", "reply", "other", "boundary", "result", "call", "call", "notice"]
    assert [block.text for block in records[1].blocks] == ["in", "parts"]
    assert records[4].blocks[0].text == "found"
    assert [record.blocks[0].input for record in records[5:7]] == [{"a": 1}, {}]
    assert skipped == {
        "session_meta": 1, "response_item/message/empty": 1, "inter_agent_communication": 1, "surprise": 1,
        "response_item/surprise": 1, "event_msg/surprise": 1, "event_msg/item_completed/Plan": 1,
        "event_msg/thread_name_updated": 1,
    }  # fmt: skip


def test_tool_runs_that_only_events_tell_keep_what_they_say():
    records, _ = read([
        meta(), message("user", "go"),
        event("patch_apply_end", call_id="p1", success=False, stderr="no", changes={"a.py": {"type": "add"}}),
        event("web_search_end", call_id="w1", query="zstd"),
        event("exec_command_end", call_id="x1", command="ls", cwd="/x", aggregated_output="a", exit_code=0),
    ])  # fmt: skip
    assert [(call.input, result.text, result.failed) for call, result in (record.blocks for record in records[1:])] == [
        ({"changes": {"a.py": {"type": "add"}}}, "no", True),
        ({"query": "zstd"}, "", False),
        ({"command": "ls", "workdir": "/x"}, "a", False),
    ]


def test_warnings_that_the_client_writes_as_the_user_are_notices():
    records, _ = read([meta(), message("user", "Warning: apply_patch was requested via exec_command. Use the tool.")])
    assert kinds(records) == ["notice"]


def test_a_raw_thought_is_kept_when_its_item_is_encrypted():
    records, skipped = read([
        meta(), message("user", "go"),
        item("reasoning", summary=[], encrypted_content="…"),
        event("agent_reasoning_raw_content", text="Think."),
        item("reasoning", summary=[{"text": "Told."}]),
        event("agent_reasoning", text="Told."),
    ])  # fmt: skip
    assert [record.blocks[0].text for record in records if record.kind == "thought"] == ["Think.", "Told."]
    assert skipped["response_item/reasoning/encrypted"] == 1


# ── tools ────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "payload",
    [
        {"type": "custom_tool_call", "name": "apply_patch", "input": "PATCH"},
        {"type": "function_call", "name": "apply_patch", "arguments": '{"input": "PATCH"}'},
        {"type": "function_call", "name": "apply_patch", "arguments": {"patch": "PATCH"}},
    ],
)
def test_a_patch_has_one_form_whatever_call_carries_it(payload):
    patch = "*** Begin Patch\n*** Add File: a.txt\n+x\n*** Update File: b/c.py\n@@\n-1\n+2\n*** End Patch"
    payload = {key: value.replace("PATCH", patch.replace("\n", "\\n") if "{" in value else patch)
               if isinstance(value, str) else {"patch": patch} for key, value in payload.items()}  # fmt: skip
    records, _ = read([meta(), line("response_item", {**payload, "call_id": "c1"})])
    assert records[0].blocks[0].input == {"patch": patch, "files": ["a.txt", "b/c.py"]}


@pytest.mark.parametrize(
    ("output", "text", "failed"),
    [
        ("Chunk ID: 1\nProcess exited with code 3\nOutput:\nboom", None, True),
        ("Exit code: 0\nWall time: 0 seconds\nOutput:\nExit code: 9", None, False),
        ("all good\nExit code: 1", None, False),
        ("unsupported call: x", None, True),
        ("Wall time: 0.1 seconds\naborted by user", None, True),
        ('{"output":"ok","metadata":{"exit_code":0}}', "ok", False),
        ('{"output": 5}', None, False),
        ('{"output": broken', None, False),
        ([{"type": "input_text", "text": "a"}, {"type": "input_image"}], "a", False),
        ([{"type": "input_text", "text": '{"output":"late","exit_code":1}'}], "late", True),
        ({"content": "refused", "success": False}, "refused", True),
        ({"content": [{"type": "text", "text": "fine"}]}, "fine", False),
        (None, "", False),
        (7, "", False),
    ],
)
def test_outputs_of_every_shape_give_text_and_outcome(output, text, failed):
    records, _ = read([meta(), item("function_call_output", call_id="c1", output=output)])
    block = records[0].blocks[0]
    assert (block.text, block.failed) == (output if text is None else text, failed)


def test_a_shell_run_told_twice_is_indexed_once_and_knows_how_it_ended():
    records, skipped = read([
        meta(),
        item("function_call", name="exec_command", arguments='{"cmd":"false"}', call_id="c1"),
        event("exec_command_end", call_id="c1", aggregated_output="", exit_code=1),
        item("function_call_output", call_id="c1", output="(no header)"),
        event("item_completed", item={"type": "CommandExecution", "id": "c1", "exit_code": 1}),
    ])  # fmt: skip
    assert kinds(records) == ["call", "result"]
    assert records[1].blocks[0].failed
    assert skipped["event_msg/exec_command_end"] == 1
    assert skipped["event_msg/item_completed/CommandExecution"] == 1


def test_a_run_inside_a_script_that_no_item_tells_is_a_call_with_its_result():
    records, _ = read([
        meta(), message("user", "go"),
        event("item_completed", item={"type": "CommandExecution", "id": "n1", "command": ["bash", "-lc", "ls"],
                                      "cwd": "file:///x", "aggregated_output": "a b", "exit_code": 0}),
        event("mcp_tool_call_end", call_id="m1", invocation={"server": "s", "tool": "find", "arguments": {"q": 1}},
              result={"Ok": {"content": [{"type": "text", "text": "nothing"}]}}),
    ])  # fmt: skip
    run, search = records[1:]
    assert [block.kind for block in run.blocks] == ["call", "result"]
    assert run.blocks[0].input == {"command": ["bash", "-lc", "ls"], "workdir": "/x"}
    assert run.blocks[1].text == "a b"
    assert (search.blocks[0].tool, search.blocks[0].input) == ("find", {"q": 1})


def test_calls_without_arguments_of_their_own_kind_read_too():
    records, _ = read([
        meta(),
        item("local_shell_call", call_id="l1", action={"type": "exec", "command": ["ls"]}),
        item("web_search_call", id="ws_1", action={"type": "search", "query": "zstd"}),
        item("function_call", name="odd", arguments="not json", call_id="o1"),
        item("function_call", name="find", namespace="mcp__docs", arguments="{}", call_id="n1"),
        item("tool_search_call", call_id="t1", arguments={"query": "x"}),
    ])  # fmt: skip
    assert [(record.blocks[0].tool, record.blocks[0].input) for record in records] == [
        ("local_shell_call", {"type": "exec", "command": ["ls"]}),
        ("web_search", {"type": "search", "query": "zstd"}),
        ("odd", {"arguments": "not json"}),
        ("mcp__docs__find", {}),
        ("tool_search", {"arguments": {"query": "x"}}),
    ]


# ── tokens, turns, sessions ──────────────────────────────────────────


def count(total, last=None):
    usage = {"total_token_usage": {"input_tokens": total, "cached_input_tokens": 10, "output_tokens": 1}}
    if last:
        usage["last_token_usage"] = {"input_tokens": last, "cached_input_tokens": 4, "output_tokens": 1}
    return event("token_count", info=usage)


def test_a_response_is_billed_once_by_its_last_usage_and_cached_input_is_told_apart():
    records, skipped = read(
        [meta(), line("turn_context", {"model": "gpt-6"}), count(100, 100), count(100, 100), count(150, 50)]
    )
    bills = [record.usage for record in records]
    assert [(bill.model, bill.input, bill.cache_read, bill.output) for bill in bills] == [
        ("gpt-6", 96, 4, 1), ("gpt-6", 46, 4, 1),
    ]  # fmt: skip
    assert len({bill.response for bill in bills}) == 2
    assert skipped["event_msg/token_count"] == 1


def test_without_last_usage_the_difference_of_totals_is_billed():
    records, _ = read([meta(), count(100), count(150)])
    assert [record.usage.input for record in records] == [90, 50]


def test_usage_records_take_the_place_of_token_counts():
    record = line("token_usage_record", {"thread_id": SESSION, "response_id": "r1",
                                         "usage": {"input_tokens": 9, "output_tokens": 2}})  # fmt: skip
    records, skipped = read([meta(), record, count(9, 9)])
    assert [(r.kind, r.usage.input, r.usage.output) for r in records] == [("other", 9, 2)]
    assert skipped["event_msg/token_count"] == 1


def test_a_prompt_written_before_its_turn_opens_the_thread_of_that_turn():
    records, _ = read([
        meta(), message("user", "first"), line("turn_context", {"turn_id": "t1"}),
        message("assistant", "a", kind="output_text"), event("task_complete", turn_id="t1"),
        message("user", "second"), line("turn_context", {"turn_id": "t2"}),
        message("assistant", "b", kind="output_text"),
    ])  # fmt: skip
    first, a, second, b = records
    assert first.prompt_id == a.prompt_id == first.uid
    assert second.prompt_id == b.prompt_id == second.uid


def test_a_rollback_names_the_first_record_that_is_taken_back():
    records, _ = read([
        meta(), message("user", "one"), message("user", "two"), message("user", "three"),
        event("thread_rolled_back", num_turns=2), message("user", "four"), event("thread_rolled_back", num_turns=9),
    ])  # fmt: skip
    one, two, _, back, _, all_back = records
    assert (back.kind, back.rewinds_to) == ("boundary", two.uid)
    assert all_back.rewinds_to == one.uid


def test_a_compaction_is_a_summary_with_its_boundary_and_its_raw_answer_is_not_repeated():
    records, skipped = read([
        meta(), message("user", "go"),
        line("response_item", {"type": "message", "role": "assistant",
                               "content": [{"type": "output_text", "text": "so far"}]},
             metadata={"compaction_output": True}),
        line("compacted", {"message": "Summary: so far", "replacement_history": [{"type": "message"}]}),
        event("item_completed", item={"type": "ContextCompaction", "id": "cc"}),
    ])  # fmt: skip
    assert kinds(records) == ["prompt", "summary", "boundary"]
    assert skipped["response_item/message/compaction_output"] == 1


def test_a_subagent_is_keyed_by_its_own_id_and_names_its_parent():
    spawn = {"subagent": {"thread_spawn": {"parent_thread_id": "parent-1"}}}
    records, _ = read([meta(source=spawn, thread_source="subagent"), event("task_started", turn_id=TURN),
                       message("user", "look around")])  # fmt: skip
    (task,) = records
    assert (task.kind, task.sidechain, task.parent_session, task.spawned_by) == ("task", True, "parent-1", SESSION)
    assert task.session == SESSION
    assert task.prompt_id == ""


def test_the_result_of_a_spawn_names_the_agent():
    records, _ = read(
        [meta(), item("function_call_output", call_id="c", output='{"agent_id":"child-1","nickname":"N"}')]
    )
    assert records[0].blocks[0].input == {"agentId": "child-1"}


def test_programs_that_drive_the_agent_are_told_apart_from_people():
    assert read([meta(originator="codex_sdk_ts"), message("user", "go")])[0][0].sdk
    assert not read([meta(originator="codex_exec"), message("user", "go")])[0][0].sdk


def test_trouble_is_a_system_record_and_a_name_is_a_title():
    records, _ = read([
        meta(), event("error", message="stream lost"), event("turn_aborted", reason="interrupted"),
        event("thread_name_updated", thread_name="Speed"),
    ])  # fmt: skip
    assert [(record.kind, record.title) for record in records] == [("system", ""), ("system", ""), ("title", "Speed")]
    assert records[0].blocks[0].text == "stream lost"
    assert records[2].title_rank == 3


# ── identity ─────────────────────────────────────────────────────────


def history(time):
    said = {"role": "user", "content": [{"type": "input_text", "text": "go on"}]}
    answered = {"role": "assistant", "id": "msg_1", "content": [{"type": "output_text", "text": "yes"}]}
    payloads = [
        {"type": "message", **said},
        {"type": "message", **answered},
        {"type": "function_call", "name": "f", "arguments": "{}", "call_id": "c1"},
        {"type": "function_call_output", "call_id": "c1", "output": "done"},
        {"type": "message", **said},
    ]
    return [line("response_item", payload, time) for payload in payloads]


def test_a_fork_that_repeats_its_parents_lines_under_new_times_repeats_their_uids():
    parent, _ = read([meta(), *history("2026-03-01T10:00:00Z")])
    own = line("session_meta", {"id": "01a20000-0000-7000-8000-00000000bbbb", "forked_from_id": SESSION})
    fork, _ = read([own, meta(), *history("2026-03-05T12:00:00Z"), message("user", "elsewhere")],
                   source("01a20000-0000-7000-8000-00000000bbbb"))  # fmt: skip
    assert [record.uid for record in fork[:-1]] == [record.uid for record in parent]
    assert len({record.uid for record in parent}) == 5
    assert {record.session for record in fork} == {"01a20000-0000-7000-8000-00000000bbbb"}
    assert fork[0].parent_session == SESSION


def test_the_same_words_and_small_ids_in_another_session_are_other_records():
    one, _ = read([meta(), *history("2026-03-01T10:00:00Z")])
    two, _ = read([line("session_meta", {"id": "other"}), *history("2026-03-01T10:00:00Z")], source("other"))
    assert not {record.uid for record in one} & {record.uid for record in two}


def test_only_what_the_host_named_has_an_id():
    records, _ = read([meta(), *history("2026-03-01T10:00:00Z")])
    assert [record.has_id for record in records] == [False, True, True, True, False]
