"""Kimi Code's wires, and those and the contexts of the kimi-cli before it."""

from __future__ import annotations

import json
from hashlib import md5
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fabula.hosts.kimi.cli_context import CliContextNormaliser
from fabula.hosts.kimi.cli_wire import CliWireNormaliser
from fabula.hosts.kimi.layout import place_of
from fabula.hosts.kimi.meta import MetaNormaliser
from fabula.hosts.kimi.source import KimiSource
from fabula.hosts.kimi.wire import WireNormaliser
from fabula.kernel.records import Record, SourceFile
from fabula.testing.kimi_session import KimiSession, KimiWire
from fabula.testing.reader_laws import assert_total

MAIN = SourceFile("kimi", "/s/wd/x/agents/main/wire.jsonl", "session", "x", 0, 0, 0, 0)
AGENT = SourceFile("kimi", "/s/wd/x/agents/a0/wire.jsonl", "subagent", "x.a0", 0, 0, 0, 0, "x")


def read(lines, reader=WireNormaliser, file=MAIN, state=None, **told):
    """Return (records, kinds that were skipped, the reader)."""
    normaliser = reader(file, state, "/home/mira", **told)
    found = [normaliser.normalise(line, 10 * at, 9) for at, line in enumerate(lines)]
    return [one for one in found if isinstance(one, Record)], [one for one in found if isinstance(one, str)], normaliser


def harbour():
    wire = KimiWire("harbour")
    wire.prompt("Why does the limiter leak?")
    wire.user("<system-reminder>Today</system-reminder>", kind="injection", variant="date_change")
    wire.tool("Bash", "c1", "1 failed", failed=True, command="pytest")
    wire.tool("Edit", "c2", "Replaced 1 occurrence", path="limiter.py", old_string="a", new_string="b")
    wire.reply("It never refills.", thought="Think.")
    return wire


def test_turns_become_prompts_calls_results_and_replies():
    records, skipped, _ = read(harbour().lines)
    assert [one.kind for one in records if one.kind != "other"] == [
        "prompt", "notice", "call", "result", "call", "result", "thought", "reply",
    ]  # fmt: skip
    prompt = records[0]
    assert {one.prompt_id for one in records} == {prompt.uid}
    calls = {one.blocks[0].tool_id: one for one in records if one.kind == "call"}
    results = {one.blocks[0].tool_id: one for one in records if one.kind == "result"}
    assert {key: one.source for key, one in results.items()} == {key: one.uid for key, one in calls.items()}
    assert (results["c1"].blocks[0].failed, results["c2"].blocks[0].failed) == (True, False)
    assert calls["c2"].blocks[0].input == {"path": "limiter.py", "old_string": "a", "new_string": "b"}
    assert {(one.session, one.cwd) for one in records} == {("x", "/home/mira")}
    assert sorted(set(skipped)) == ["loop/step.begin", "loop/step.end", "metadata", "turn.prompt"]


def test_every_response_is_billed_once():
    records, _, _ = read(harbour().lines)
    bills = [one.usage for one in records if one.usage]
    assert len(bills) == 3
    assert len({bill.response for bill in bills}) == 3
    assert {(bill.model, bill.input, bill.output, bill.cache_read, bill.cache_write) for bill in bills} == {
        ("kimi-k3", 100, 20, 7, 3)
    }


def test_a_subagent_is_joined_to_the_call_that_started_it():
    session = KimiSession("agents")
    session.main.prompt("count")
    session.main.line("subagent.spawned", subagentId="a0", parentToolCallId="t1", parentAgentId="main")
    session.main.tool("Agent", "t1", "agent_id: a0", prompt="Count the lines.")
    helper = session.subagent("a0")
    helper.user("Count the lines.", identity="msg_A", kind="system_trigger", name="subagent")
    helper.reply("two")
    result = next(one for one in read(session.main.lines)[0] if one.kind == "result")
    assert result.blocks[0].input == {"agentId": "x.a0"}
    records, _, _ = read(helper.lines, file=AGENT)
    assert [one.kind for one in records if one.kind != "other"] == ["task", "reply"]
    assert {(one.session, one.sidechain, one.spawned_by, one.parent_session, one.prompt_id) for one in records} == {
        ("x.a0", True, "x.a0", "x", "")
    }


@pytest.mark.parametrize(
    ("origin", "kind"),
    [
        ({"kind": "user"}, "prompt"),
        ({}, "prompt"),
        ({"kind": "user", "inTurn": True}, "prompt"),
        ({"kind": "skill_activation", "trigger": "user-slash"}, "command"),
        ({"kind": "skill_activation", "trigger": "model"}, "notice"),
        ({"kind": "compaction_summary"}, "summary"),
        ({"kind": "system_trigger", "name": "cron"}, "notice"),
        ({"kind": "novelty"}, "notice"),
    ],
)
def test_who_put_a_message_in_says_what_it_is(origin, kind):
    wire = KimiWire("origins")
    wire.user("text", identity="msg_1", **origin)
    (record,), _, _ = read(wire.lines)
    assert record.kind == kind


def test_undone_turns_are_taken_back_and_a_compaction_ends_what_can_be_undone():
    wire = KimiWire("undo")
    for text in ("one", "two", "three"):
        wire.prompt(text)
        wire.reply(f"{text} done")
    wire.line("context.undo", count=2)
    records, _, _ = read(wire.lines)
    second = next(one for one in records if one.blocks and one.blocks[0].text == "two")
    assert records[-1].rewinds_to == second.uid
    wire.line("context.apply_compaction", summary="So far: one.", compactedCount=3)
    wire.line("context.undo", count=1)
    records, _, _ = read(wire.lines)
    assert (records[-2].kind, records[-2].blocks[0].text) == ("summary", "So far: one.")
    assert (records[-1].kind, records[-1].rewinds_to) == ("boundary", "")


def test_a_fork_that_copies_a_wire_repeats_its_records():
    wire = harbour()
    other = SourceFile("kimi", "/s/wd/y/agents/main/wire.jsonl", "session", "y", 0, 0, 0, 0)
    original = read(wire.lines)[0]
    copied = read([*wire.lines, {"type": "forked", "agentId": "main"}], file=other)[0]
    assert [one.uid for one in copied] == [one.uid for one in original]
    assert {one.session for one in copied} == {"y"}


def test_sessions_that_were_taken_over_from_the_older_client_read_by_their_messages():
    lines = [
        {"type": "metadata", "protocol_version": "1.0"},
        {"type": "turn.prompt", "agentId": "main", "input": [], "origin": {"kind": "user"}, "time": 1_772_442_000_000},
        {"type": "context.append_message", "message": {"role": "user", "content": [{"type": "text", "text": "hi"}]}},
        {"type": "context.append_message", "message": {
            "role": "assistant", "content": [{"type": "text", "text": "I look."}],
            "toolCalls": [{"type": "function", "id": "c", "name": "Bash", "arguments": '{"command":"ls"}'}]}},
        {"type": "context.append_message", "message": {
            "role": "tool", "toolCallId": "c", "content": [{"type": "text", "text": "a.py"}]}},
    ]  # fmt: skip
    records, _, _ = read(lines)
    assert [one.kind for one in records] == ["prompt", "call", "result"]
    assert records[1].blocks[1].input == {"command": "ls"}
    assert records[2].source == records[1].uid


def test_a_wire_read_in_two_parts_is_the_same_as_read_at_once():
    wire = harbour()
    whole = read(wire.lines)[0]
    for cut in range(len(wire.lines)):
        first, _, normaliser = read(wire.lines[:cut])
        rest = WireNormaliser(MAIN, json.loads(json.dumps(normaliser.state)), "")
        second = [rest.normalise(line, 10 * (cut + at), 9) for at, line in enumerate(wire.lines[cut:])]
        found = first + [one for one in second if isinstance(one, Record)]
        assert [(one.uid, one.kind, one.source, one.prompt_id) for one in found] == [
            (one.uid, one.kind, one.source, one.prompt_id) for one in whole
        ]


# ── kimi-cli ─────────────────────────────────────────────────────────


def event(number, kind, **payload):
    return {"timestamp": 1_772_442_000.25 + number, "message": {"type": kind, "payload": payload}}


CLI_WIRE = [
    {"type": "metadata", "protocol_version": "1.10"},
    event(0, "TurnBegin", user_input="Why?"),
    event(1, "StepBegin", n=1),
    event(2, "ContentPart", type="think", think="Hm."),
    event(3, "ContentPart", type="text", text="I look."),
    event(4, "ToolCall", type="function", id="c", function={"name": "Shell", "arguments": '{"command":"ls"}'}),
    event(5, "StatusUpdate", token_usage={"input_other": 5, "output": 2}, message_id="m1"),
    event(6, "StatusUpdate", context_usage=0.1),
    event(7, "ToolResult", tool_call_id="c", return_value={"is_error": True, "output": "", "message": "exit code: 1."}),
    event(8, "SubagentEvent", agent_id="a1", event={"type": "TurnBegin", "payload": {"user_input": "x"}}),
    event(9, "ToolCall", type="function", id="d", function={"name": "Agent", "arguments": "{}"}),
    event(10, "ToolResult", tool_call_id="d", return_value={"is_error": False, "output": "agent_id: a1\nok"}),
    event(11, "CompactionBegin"),
    event(12, "TurnEnd"),
]


def test_the_older_clients_wire_reads_by_its_events():
    records, skipped, _ = read(CLI_WIRE, CliWireNormaliser)
    assert [one.kind for one in records] == [
        "prompt", "thought", "reply", "call", "other", "result", "call", "result", "boundary",
    ]  # fmt: skip
    prompt, _, _, call, bill, result, _, joined, _ = records
    assert {one.prompt_id for one in records} == {prompt.uid}
    assert (result.source, result.blocks[0].failed, result.blocks[0].text) == (call.uid, True, "exit code: 1.")
    assert bill.usage is not None
    assert (bill.usage.response, bill.usage.input) == ("kimi:m1", 5)
    assert joined.blocks[0].input == {"agentId": "x.a1"}
    assert prompt.time == 1_772_442_000_250
    assert skipped == ["metadata", "StepBegin", "StatusUpdate", "SubagentEvent", "TurnEnd"]


CONTEXT = [
    {"role": "_system_prompt", "content": "You are"},
    {"role": "user", "content": "Why?"},
    {"role": "assistant", "content": "I look.", "tool_calls": [
        {"type": "function", "id": "c", "function": {"name": "Shell", "arguments": '{"command":"ls"}'}}]},
    {"role": "tool", "tool_call_id": "c", "content": [
        {"type": "text", "text": "<system>ERROR: Command failed with exit code: 1.</system>"}]},
    {"role": "_usage", "token_count": 3},
]  # fmt: skip


def test_a_context_is_read_where_no_wire_tells_the_same():
    records, skipped, _ = read(CONTEXT, CliContextNormaliser, told=False)
    assert [one.kind for one in records] == ["prompt", "call", "result"]
    assert records[2].blocks[0].failed
    assert skipped == ["context/_system_prompt", "context/_usage"]
    assert read(CONTEXT, CliContextNormaliser, told=True)[1] == ["context/in its wire"] * len(CONTEXT)


# ── files ────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ("wd_x_1/s1/agents/main/wire.jsonl", ("wire", "session", "s1", "")),
        ("wd_x_1/s1/agents/a0/wire.jsonl", ("wire", "subagent", "s1.a0", "s1")),
        ("wd_x_1/s1/state.json", ("state", "meta", "s1", "")),
        ("md5/s1/wire.jsonl", ("cli-wire", "session", "s1", "")),
        ("md5/s1/context_1.jsonl", ("cli-context", "session", "s1", "")),
        ("md5/s1/subagents/a1/wire.jsonl", ("cli-wire", "subagent", "s1.a1", "s1")),
        ("md5/s1.jsonl", ("cli-context", "session", "s1", "")),
        ("wd_x_1/s1/notify/state.json", None),
        ("wd_x_1/s1/agents/main/tasks/x.jsonl", None),
        ("x.jsonl", None),
        ("wd/s1/logs/a/wire.jsonl", None),
    ],
)
def test_a_path_tells_what_a_file_is(path, place):
    found = place_of(path.split("/"))
    assert place == (found and (found.shape, found.kind, found.session, found.parent))


def test_working_folders_and_titles_are_told_by_the_files_beside(tmp_path: Path):
    home, cli = tmp_path / ".kimi-code", tmp_path / ".kimi"
    session = KimiSession("found", cwd="/home/mira/code/harbor", title="Limiter", titleKind="custom", forkedFrom="old")
    session.main.prompt("hello")
    session.save(home)
    folder = cli / "sessions" / md5(b"/home/mira/old").hexdigest() / "s1"
    folder.mkdir(parents=True)
    (cli / "kimi.json").write_text(json.dumps({"work_dirs": [{"path": "/home/mira/old", "kaos": "local"}]}))
    (folder / "wire.jsonl").write_text("".join(json.dumps(line) + "\n" for line in CLI_WIRE))
    (folder / "context.jsonl").write_text("".join(json.dumps(line) + "\n" for line in CONTEXT))
    source = KimiSource(home, cli)
    cwds, titles = {}, []
    for file in source.discover():
        normaliser = source.normaliser(file, None)
        for chunk in source.container(file).chunks():
            for value in chunk.values:
                found = normaliser.normalise(value.value, value.offset, value.length)
                if isinstance(found, Record):
                    cwds[found.session] = found.cwd
                    titles += [(found.session, found.title, found.title_rank, found.parent_session)] * bool(found.title)
    assert cwds == {session.id: "/home/mira/code/harbor", "s1": "/home/mira/old"}
    assert titles == [(session.id, "Limiter", 3, "old")]
    assert source.problems() == []


def test_a_session_without_a_state_is_placed_by_the_lists(tmp_path: Path):
    home = tmp_path / ".kimi-code"
    for name in ("wd_harbor_1/s1", "wd_gone_2/s2", "wd_gone_2/s3"):
        path = home / "sessions" / name / "agents" / "main" / "wire.jsonl"
        path.parent.mkdir(parents=True)
        path.write_bytes(harbour().data())
    (home / "workspaces.json").write_text('{"workspaces": {"wd_harbor_1": {"root": "/harbor"}}}')
    (home / "session_index.jsonl").write_text('{"sessionId": "s2", "workDir": "/gone"}\n[]\n{"torn')
    source = KimiSource(home, tmp_path / ".kimi")
    assert [source.normaliser(file, None).state["cwd"] for file in source.discover()] == ["/gone", "", "/harbor"]


KEYS = ["type", "time", "message", "event", "role", "content", "toolCalls", "id", "origin", "kind", "part",
        "toolCallId", "parentUuid", "uuid", "result", "output", "usage", "count", "summary", "payload", "timestamp",
        "user_input", "function", "arguments", "name", "return_value", "text", "think", "subagentId", "title", "cwd",
        "inTurn", "trigger"]  # fmt: skip
WORDS = ["context.append_message", "context.append_loop_event", "usage.record", "context.undo", "context.clear",
         "context.apply_compaction", "subagent.spawned", "config.update", "content.part", "tool.call", "tool.result",
         "user", "assistant", "tool", "TurnBegin", "ToolCall", "ToolResult", "StatusUpdate", "ContentPart", "text",
         "think", "x", ""]  # fmt: skip
scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(WORDS) | st.text(max_size=4)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=6),
    max_leaves=12,
)
lines = st.fixed_dictionaries(
    {"type": st.sampled_from(WORDS)},
    optional=dict.fromkeys(("message", "event", "time", "timestamp", "role", "count", "usage"), values),
)
READERS = [WireNormaliser, CliWireNormaliser, MetaNormaliser, CliContextNormaliser]


@settings(max_examples=200)
@given(st.lists(lines | values, max_size=6), st.sampled_from(READERS), st.sampled_from([MAIN, AGENT]))
def test_any_sequence_of_values_gives_records_or_named_skips(sequence, reader, file):
    told = {"told": False} if reader is CliContextNormaliser else {}
    assert_total(lambda state: reader(file, state, "", **told), sequence)
