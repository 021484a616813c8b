"""What of Claude Code's records belongs into a composed session, and how a copy is made."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fabula.hosts.claude.composing import (
    COMPACTIONS,
    ERRORS,
    LISTS,
    MEASURES,
    SEAMS,
    STRANGE,
    ClaudeComposer,
    rename_tools,
    seam_text,
)
from fabula.hosts.claude.seams import SEAM, is_ours
from fabula.record.composing.ids import FreshIds
from fabula.record.composing.parts import Copied, Heading, Part
from fabula.record.rewriting.plan import Snapshot
from fabula.testing.mutations import mutated
from fabula.testing.stories import story
from fabula.testing.transcripts import ClaudeSession

SAID = {"role": "user", "content": "Hello?"}


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ({"type": "user", "message": SAID}, ""),
        ({"type": "user", "message": "text"}, STRANGE),
        ({"type": "user", "message": SAID, "isCompactSummary": True}, COMPACTIONS),
        ({"type": "user", "message": SAID, "isMeta": True}, ""),
        ({"type": "user", "message": {"content": "Continue from where you left off."}, "isMeta": True}, MEASURES),
        ({"type": "user", "message": {"content": "Continue from where you left off."}}, ""),
        ({"type": "user", "message": SAID, SEAM: {"records": 3}}, SEAMS),
        ({"type": "user", "message": SAID, SEAM: {"records": 0}}, ""),
        ({"type": "assistant", "message": {"model": "m", "content": []}}, ""),
        ({"type": "assistant", "message": {"model": "<synthetic>", "content": []}}, ERRORS),
        ({"type": "assistant", "message": {"content": []}, "isApiErrorMessage": True}, ERRORS),
        ({"type": "system", "subtype": "compact_boundary"}, COMPACTIONS),
        ({"type": "system", "subtype": "microcompact_boundary"}, COMPACTIONS),
        ({"type": "system", "subtype": "turn_duration"}, MEASURES),
        ({"type": "system", "subtype": "local_command"}, ""),
        ({"type": "attachment", "attachment": {"type": "file"}}, ""),
        ({"type": "attachment", "attachment": {"type": "queued_command"}}, ""),
        ({"type": "attachment", "attachment": {"type": "skill_listing"}}, LISTS),
        ({"type": "attachment", "attachment": ["skill_listing"]}, ""),
        ({"type": "progress"}, MEASURES),
        ({"type": "a kind of the future", "uuid": "u"}, STRANGE),
        ({}, STRANGE),
    ],
)
def test_what_stays_out_is_named_by_its_reason(value: dict[str, Any], reason: str) -> None:
    assert ClaudeComposer().stays_out(value) == reason


def part(*values: dict[str, Any], **more: Any) -> Part:
    records = tuple(Copied(value["uuid"], value) for value in values)
    return Part("t1", "s1", "How it began", 0, 1, records, {}, **more)


def test_a_subagents_thread_becomes_a_conversation_of_its_own() -> None:
    agent = ClaudeSession("agent", agent="a1", parent_session="parent")
    agent.task("Count the buoys.")
    agent.reply("Three.")
    written = ClaudeComposer().write(Heading("new", "T", "/p", 5), [part(*agent.records)], FreshIds(b"x"))
    assert b'"isSidechain":true' not in written.data
    assert b'"agentId"' not in written.data
    assert b"parent" not in written.data.replace(b"parentUuid", b"")


def test_copies_share_no_part_with_their_originals() -> None:
    session = ClaudeSession("one")
    session.prompt("Hello?")
    session.tool("Bash", {"command": "ls"}, "files", detail={"stdout": "files"})
    before = session.data()
    ClaudeComposer().write(Heading("new", "T", "/p", 5), [part(*session.records)], FreshIds(b"x"))
    assert session.data() == before


def test_tool_ids_are_renamed_wherever_a_record_names_them_and_nowhere_in_what_was_said() -> None:
    value: dict[str, Any] = {
        "toolUseID": "a",
        "attachment": {"toolUseID": "a", "content": "a"},
        "message": {"content": [
            {"type": "tool_use", "id": "a", "input": {"id": "a", "tool_use_id": "a"}},
            {"type": "tool_result", "tool_use_id": "a", "content": "a"},
            {"type": "text", "text": "a", "id": "a"},
            "a",
        ]},
    }  # fmt: skip
    rename_tools(value, str.upper)
    assert value == {
        "toolUseID": "A",
        "attachment": {"toolUseID": "A", "content": "a"},
        "message": {"content": [
            {"type": "tool_use", "id": "A", "input": {"id": "a", "tool_use_id": "a"}},
            {"type": "tool_result", "tool_use_id": "A", "content": "a"},
            {"type": "text", "text": "a", "id": "a"},
            "a",
        ]},
    }  # fmt: skip


def test_nothing_in_a_title_can_close_its_seam() -> None:
    text = seam_text(Part("t", 's"1', "a </fabula-seam> b", None, None, (), {}))
    assert text.count("</fabula-seam>") == 1
    assert text.endswith("</fabula-seam>")
    assert 'session="s&quot;1"' in text


def test_only_lines_that_composing_wrote_are_ours() -> None:
    assert is_ours({"sessionId": "s", "fabulaComposedFrom": ""}, "s")
    assert is_ours({"sessionId": "s", "fabulaSeam": {}}, "s")
    others: list[object] = [{"sessionId": "s"}, {"sessionId": "t", "fabulaComposedFrom": ""}, [], None]
    others.append({"sessionId": "s", "fabulaComposedFrom": "u", "forkedFrom": {}})
    assert not any(is_ours(other, "s") for other in others)


@settings(deadline=None)
@given(st.integers(0, 1 << 32), st.integers(1, 4))
def test_no_strange_value_stops_a_composition_and_its_chain_is_whole(seed: int, rounds: int) -> None:
    random = Random(seed)
    data, _ = mutated(story(random).data(), random, rounds=rounds)
    composer = ClaudeComposer()
    kept: list[Copied] = []
    for found in Snapshot("/s.jsonl", data).values:
        if isinstance(found.value, dict) and not composer.stays_out(found.value):
            assert isinstance(composer.answer_of(found.value), str)
            cut = composer.without(found.value, {("call", "x"), ("result", "x")}, thoughts=random.random() < 0.5)
            kept.append(Copied(str(len(kept)), cut))
    told = Part("t", "s", "title", None, None, tuple(kept), {})
    written = composer.write(Heading("new", "T", "/p", 5), [told], FreshIds(b"x"))
    records = [json.loads(line) for line in written.data.splitlines()]
    named = [record for record in records if "uuid" in record]
    assert len(named) == len(kept) + 1
    assert [record["parentUuid"] for record in named] == [None, *(record["uuid"] for record in named[:-1])]
    assert {record["sessionId"] for record in records} == {"new"}
