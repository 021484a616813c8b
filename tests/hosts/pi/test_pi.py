"""Pi's sessions: what entries become, trees with branches, forks, summaries, strange lines."""

from __future__ import annotations

import json
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from fabula.hosts.pi.normaliser import PiNormaliser
from fabula.hosts.pi.source import PiSource, session_in
from fabula.kernel.records import Record, SourceFile
from fabula.testing.pi_session import PiSession

FILE = SourceFile("pi", "/sessions/x/2026_s.jsonl", "session", "s", 0, 0, 0, 0)


def read(lines, state=None, file=FILE):
    """Return (records, kinds that were skipped, the reader)."""
    normaliser = PiNormaliser(file, state)
    found = [normaliser.normalise(line, 10 * at, 9) for at, line in enumerate(lines)]
    records = [one for one in found if isinstance(one, Record)]
    return records, [one for one in found if isinstance(one, str)], normaliser


def harbour():
    made = PiSession("harbour")
    made.entry("model_change", provider="anthropic", modelId="claude-sonnet-5")
    made.prompt("Why does the limiter leak?")
    made.answer(
        {"type": "thinking", "thinking": "Look first.", "thinkingSignature": "c2ln"},
        {"type": "text", "text": "I look."},
        {"type": "toolCall", "id": "c1", "name": "read", "arguments": {"path": "limiter.py"}},
        {"type": "toolCall", "id": "c2", "name": "bash", "arguments": {"command": "pytest"}},
    )
    made.result("c1", "class Bucket: ...")
    made.result("c2", "1 failed\n\nCommand exited with code 1", failed=True)
    made.reply("It never refills.")
    return made


def test_messages_become_prompts_calls_results_and_replies():
    made = harbour()
    records, skipped, _ = read(made.lines)
    assert [(one.kind, one.role) for one in records] == [
        ("prompt", "user"), ("call", "assistant"), ("result", "tool"), ("result", "tool"), ("reply", "assistant"),
    ]  # fmt: skip
    assert skipped == ["session", "model_change"]
    prompt, call, first, second, reply = records
    assert [block.kind for block in call.blocks] == ["thought", "text", "call", "call"]
    assert {one.prompt_id for one in records} == {prompt.uid}
    assert (first.source, second.source) == (call.uid, call.uid)
    assert (first.blocks[0].failed, second.blocks[0].failed) == (False, True)
    assert second.parent == first.uid
    assert {(one.session, one.cwd) for one in records} == {(made.id, "/home/mira/code/harbor")}
    usage = reply.usage
    assert usage is not None
    assert (usage.model, usage.input, usage.output, usage.cache_read, usage.cache_write) == (
        "claude-sonnet-5", 100, 20, 7, 3,
    )  # fmt: skip
    assert len({one.usage.response for one in records if one.usage}) == 2


def test_a_branch_that_was_left_is_not_live_and_one_that_was_taken_up_again_is():
    made = PiSession("branches")
    made.prompt("one")
    first = made.reply("first answer")
    made.prompt("a wrong turn")
    wrong = made.reply("wrong answer")
    made.leaf = first
    made.entry("branch_summary", fromId=wrong, summary="It went wrong.")
    made.prompt("a better turn")
    made.reply("better answer")
    records, _, normaliser = read(made.lines)

    def live():
        again = [normaliser.normalise(line, 10 * at, 9) for at, line in enumerate(made.lines)]
        return {one.blocks[0].text: one.live for one in again if isinstance(one, Record)}

    assert live() == {
        "one": True, "first answer": True, "a wrong turn": False, "wrong answer": False, "It went wrong.": True,
        "a better turn": True, "better answer": True,
    }  # fmt: skip
    assert len({one.prompt_id for one in records}) == 3
    made.leaf = wrong
    made.prompt("back again")
    normaliser.normalise(made.lines[-1], 10 * (len(made.lines) - 1), 9)
    assert live()["wrong answer"] is True
    assert live()["better answer"] is False


def test_a_fork_repeats_its_entries_and_names_its_parent():
    made = harbour()
    fork = PiSession("fork", parent=f"/sessions/--x--/2026-03-02T09-00-00-000Z_{made.id}.jsonl")
    fork.lines += made.lines[1:]
    fork.leaf = made.leaf
    fork.prompt("go on")
    records, _, _ = read(fork.lines)
    original, _, _ = read(made.lines)
    assert [one.uid for one in records[:-1]] == [one.uid for one in original]
    assert {one.session for one in records} == {fork.id}
    assert {one.parent_session for one in records} == {made.id}


def test_entries_of_other_sessions_with_the_same_short_id_are_others():
    one, two = PiSession("a"), PiSession("b")
    one.prompt("hello")
    two.clock = two.clock.replace(year=2027)
    two.prompt("hello")
    two.lines[-1]["id"] = one.lines[-1]["id"]
    assert read(one.lines)[0][0].uid != read(two.lines)[0][0].uid


def test_summaries_names_commands_and_injected_messages():
    made = PiSession("rest")
    made.entry("session_info", name="Harbour limiter")
    made.entry("session_info", name="")
    made.message("system", "", sections={"preamble": "You are"})
    made.message("bashExecution", "", command="make", output="boom", exitCode=2, cancelled=False, truncated=False)
    made.entry("compaction", summary="So far: buckets.", firstKeptEntryId="x", tokensBefore=9, usage={"input": 5})
    made.entry("custom_message", customType="notes", content="From an extension.", display=True)
    made.entry("custom", customType="notes", data={})
    made.entry("label", targetId="x", label="here")
    made.entry("usage", kind="cache_warm", model="m", usage={"cacheRead": 50})
    made.entry("context_edit", targetId="x", replacement=None)
    made.answer(errorMessage="overloaded", stopReason="error")
    made.entry("novelty")
    records, skipped, _ = read(made.lines)
    assert [one.kind for one in records] == ["title", "call", "summary", "notice", "other", "system"]
    title, command, summary, _, warm, error = records
    assert (title.title, title.title_rank) == ("Harbour limiter", 3)
    assert [(block.kind, block.failed) for block in command.blocks] == [("call", False), ("result", True)]
    assert summary.usage is not None
    assert summary.usage.input == 5
    assert warm.usage is not None
    assert warm.usage.cache_read == 50
    assert error.blocks[0].text == "overloaded"
    assert skipped == [
        "session", "session_info", "message/system", "custom/notes", "label", "context_edit", "novelty",
    ]  # fmt: skip


def test_version_one_without_ids_is_read_in_file_order():
    lines = [{"type": "session", "id": "s", "timestamp": "2025-11-01T00:00:00Z", "cwd": "/x"}]
    lines += [
        {"type": "message", "timestamp": "2025-11-01T00:00:01Z", "message": {"role": "user", "content": "hello"}},
        {"type": "message", "timestamp": "2025-11-01T00:00:02Z", "message": {"role": "assistant", "content": [
            {"type": "text", "text": "hi"}]}},
    ]  # fmt: skip
    records, _, _ = read(lines)
    assert [(one.kind, one.has_id, one.live) for one in records] == [("prompt", False, True), ("reply", False, True)]
    assert len({one.uid for one in records}) == 2


def test_a_session_read_in_two_parts_is_the_same_as_read_at_once():
    made = harbour()
    whole, _, _ = read(made.lines)
    for cut in range(len(made.lines)):
        first, _, normaliser = read(made.lines[:cut])
        state = json.loads(json.dumps(normaliser.state))
        rest = PiNormaliser(FILE, state)
        second = [rest.normalise(line, 10 * (cut + at), 9) for at, line in enumerate(made.lines[cut:])]
        found = first + [one for one in second if isinstance(one, Record)]
        assert [(one.uid, one.parent, one.prompt_id, one.source) for one in found] == [
            (one.uid, one.parent, one.prompt_id, one.source) for one in whole
        ]


def test_sessions_are_found_in_every_folder_once(tmp_path: Path):
    made, other = harbour(), PiSession("other")
    path = made.save(tmp_path / "agent")
    other.prompt("x")
    elsewhere = tmp_path / "elsewhere" / f"2026_{other.id}.jsonl"
    elsewhere.parent.mkdir()
    elsewhere.write_bytes(other.data())
    source = PiSource((tmp_path / "agent" / "sessions", tmp_path / "elsewhere", tmp_path / "elsewhere"))
    found = [(file.path, file.session) for file in source.discover()]
    assert found == [(str(path), made.id), (str(elsewhere), other.id)]
    assert source.problems() == []


def test_a_session_is_named_by_what_follows_the_time():
    assert session_in("/x/2026-03-02T09-00-00-000Z_a_b.jsonl") == "a_b"
    assert session_in("/x/notes.jsonl") == ""
    assert session_in("") == ""


KEYS = ["type", "id", "parentId", "timestamp", "message", "role", "content", "toolCallId", "isError", "usage", "name",
        "arguments", "summary", "cwd", "parentSession", "customType", "exitCode", "text", "thinking"]  # fmt: skip
WORDS = ["session", "message", "compaction", "branch_summary", "custom_message", "session_info", "usage", "user",
         "assistant", "toolResult", "bashExecution", "custom", "toolCall", "text", "thinking", "x", ""]  # fmt: skip
scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(WORDS) | st.text(max_size=4)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=6),
    max_leaves=12,
)
lines = st.fixed_dictionaries(
    {"type": st.sampled_from(WORDS)},
    optional={"id": values, "parentId": values, "timestamp": values, "message": values, "content": values},
)


@settings(max_examples=200)
@given(st.lists(lines | values, max_size=6), values)
def test_any_sequence_of_values_gives_records_or_named_skips(sequence, tree):
    state = {"tree": tree} if isinstance(tree, dict) else None
    for offset, value in enumerate(sequence):
        normaliser = PiNormaliser(FILE, state)
        found = normaliser.normalise(value, offset, 1)
        assert isinstance(found, Record | str)
        assert not isinstance(found, str) or len(found) < 200
        state = json.loads(json.dumps(normaliser.state))
