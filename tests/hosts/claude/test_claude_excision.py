"""Taking threads out of a transcript: what stays is whole, in its order, byte for byte, and names nothing that went."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fabula.hosts.claude.excision import Excision, changes, excision
from fabula.kernel.errors import FabulaError
from fabula.record.rewriting.plan import Snapshot, make_plan
from fabula.testing.mutations import mutated
from fabula.testing.stories import story
from fabula.testing.transcripts import ClaudeSession

RANDOMS = st.randoms(use_true_random=False)


def threads_of(values: list[dict[str, Any]]) -> list[str]:
    """Return the thread of each value: its own prompt id, else that of the record before it."""
    found, current = [], ""
    for value in values:
        current = value.get("promptId", current)
        found.append(current)
    return found


def cut_out(session: ClaudeSession, gone: set[str]) -> tuple[list[dict[str, Any]], bytes, Excision]:
    """Take threads out; return the values before, the bytes afterwards, and the decision."""
    snapshot = Snapshot("/s.jsonl", session.data())
    values = [found.value for found in snapshot.values]
    members = {index for index, thread in enumerate(threads_of(values)) if thread in gone}
    cut = excision(values, members)
    plan = make_plan(snapshot, changes(snapshot, cut))
    return values, b"".join(plan.pieces(snapshot.data)), cut


def pairs(values: list[dict[str, Any]]) -> tuple[set[str], set[str]]:
    contents = [value.get("message", {}).get("content") for value in values]
    blocks = [block for content in contents if isinstance(content, list) for block in content]
    calls = {block["id"] for block in blocks if block["type"] == "tool_use"}
    return calls, {block["tool_use_id"] for block in blocks if block["type"] == "tool_result"}


@given(RANDOMS)
def test_what_stays_is_whole_and_in_its_order(random: Random) -> None:
    session = story(random)
    prompts = sorted({record["promptId"] for record in session.records if "promptId" in record})
    gone = set(random.sample(prompts, random.randint(0, len(prompts))))
    before, data, cut = cut_out(session, gone)
    after = [json.loads(line) for line in data.splitlines()]
    kept = [value for index, value in enumerate(before) if index not in cut.dropped | cut.echoes]
    assert [value.get("uuid", value["type"]) for value in after] == [value.get("uuid", value["type"]) for value in kept]
    own = {value["uuid"] for value in after if "uuid" in value}
    assert all(value["parentUuid"] in own | {None} for value in after if "uuid" in value)
    calls, results = pairs(before)
    calls_after, results_after = pairs(after)
    assert calls_after & results == results_after & calls  # nothing that was a pair is parted
    named = str([value for value in after if value["type"] != "file-history-snapshot"])  # backups stay for their files
    assert not [before[index]["uuid"] for index in cut.dropped if before[index]["uuid"] in named]


@given(RANDOMS)
def test_only_the_threads_go_and_what_belongs_to_them(random: Random) -> None:
    session = story(random)
    prompts = sorted({record["promptId"] for record in session.records if "promptId" in record})
    gone = {random.choice(prompts)}
    before, data, cut = cut_out(session, gone)
    members = {i for i, (thread, value) in enumerate(zip(threads_of(before), before, strict=True)) if thread in gone}
    assert cut.dropped - cut.drawn <= members
    named = {index for index in members if "uuid" in before[index]}
    assert named - cut.dropped == cut.walls | cut.bound
    lines = set(session.data().splitlines())
    changed = [json.loads(line) for line in data.splitlines() if line not in lines]
    for value in changed:
        original = next(each for each in before if each.get("uuid") == value["uuid"])
        assert {key for key in value if value[key] != original.get(key)} <= {
            "parentUuid", "logicalParentUuid", "compactMetadata", "fabulaSlimmed",
        }  # fmt: skip


@given(RANDOMS)
def test_a_record_hangs_off_the_nearest_ancestor_that_stays(random: Random) -> None:
    session = story(random)
    prompts = sorted({record["promptId"] for record in session.records if "promptId" in record})
    before, data, _ = cut_out(session, {random.choice(prompts)})
    above = {value["uuid"]: value["parentUuid"] for value in before if "uuid" in value}
    after = {value["uuid"]: value for value in map(json.loads, data.splitlines()) if "uuid" in value}
    for uuid, value in after.items():
        parent = above[uuid]
        while parent is not None and parent not in after:
            parent = above[parent]
        assert value["parentUuid"] == parent


def three() -> ClaudeSession:
    session = ClaudeSession("three")
    for name in "abc":
        session.prompt(f"prompt {name}")
        session.tool("Bash", {"command": f"run {name}"}, f"output {name}")
        session.reply(f"answer {name}")
    return session


def test_queued_and_last_prompts_of_a_thread_go_with_it_and_titles_stay() -> None:
    session = three()
    leaf = session.leaf
    session.title("A title", custom=True)
    session.other("queue-operation", operation="enqueue", content="prompt c")
    session.other("queue-operation", operation="dequeue")
    session.other("last-prompt", lastPrompt="prompt c", leafUuid=leaf)
    session.records.append({"type": "summary", "summary": "About c", "leafUuid": leaf})
    session.records.append({"type": "summary", "summary": "Of elsewhere", "leafUuid": "another-file"})
    _, data, cut = cut_out(session, {session.prompt_id})
    assert b"prompt c" not in data
    assert b"About c" not in data
    assert b"A title" in data
    assert b"Of elsewhere" in data
    assert len(cut.echoes) == 4


def test_a_late_result_goes_with_its_call_and_stays_when_it_says_more() -> None:
    for says_more in (False, True):
        session = ClaudeSession("late")
        session.prompt("first")
        first = session.prompt_id
        (call,) = session.calls(("Bash", {"command": "sleep"}))
        session.prompt("second")
        leaf = session.leaf
        session.result(call, "late")
        if says_more:
            session.records[-1]["message"]["content"].append({"type": "text", "text": "and this"})
        session.leaf = leaf
        session.reply("done")
        before, _, cut = cut_out(session, {first})
        late = next(index for index, value in enumerate(before) if "sourceToolAssistantUUID" in value)
        assert (late in cut.drawn) is not says_more
        assert len(cut.bound) == says_more


def test_a_wall_stays_and_forgets_what_went() -> None:
    session = three()
    kept = session.records[-1]["uuid"]
    third = session.prompt_id
    gone = session.records[0]["uuid"]
    session.compact("all of it", kept=[gone, kept])
    session.reply("and on")
    first = session.records[0]["promptId"]
    _, data, cut = cut_out(session, {first, third})
    assert len(cut.walls) == 2
    wall = next(value for value in map(json.loads, data.splitlines()) if value.get("subtype") == "compact_boundary")
    assert wall["compactMetadata"].get("preservedMessages") is None
    assert wall["logicalParentUuid"] in data.decode()


def test_bytes_that_cannot_be_linked_anew_without_loss_are_refused() -> None:
    session = three()
    data = session.data().replace(b'"prompt b"', b'"prompt \\ud800 \xff b"')
    snapshot = Snapshot("/s.jsonl", data)
    values = [found.value for found in snapshot.values]
    first = values[0]["promptId"]
    members = {index for index, thread in enumerate(threads_of(values)) if thread == first}
    with pytest.raises(FabulaError) as error:
        changes(snapshot, excision(values, members))
    assert error.value.code == "ERR_CHAIN"


@settings(deadline=None)
@given(st.integers(0, 1 << 32), st.integers(1, 4))
def test_no_strange_value_stops_it_or_breaks_what_was_whole(seed: int, rounds: int) -> None:
    random = Random(seed)
    data, _ = mutated(story(random).data(), random, rounds=rounds)
    snapshot = Snapshot("/s.jsonl", data)
    values = [found.value for found in snapshot.values]
    members = {index for index in range(len(values)) if random.random() < 0.4}
    cut = excision(values, members)
    try:
        plan = make_plan(snapshot, changes(snapshot, cut))
    except FabulaError as error:
        assert error.code == "ERR_CHAIN"
        return
    after = Snapshot("/s.jsonl", b"".join(plan.pieces(snapshot.data)))
    assert len(after.values) == len(values) - plan.dropped
