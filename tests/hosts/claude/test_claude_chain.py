"""The chain when records go: kept ones are linked to what is left, and what would break is named."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from fabula.hosts.claude import chain
from fabula.record.rewriting.plan import Snapshot, make_plan
from fabula.testing.transcripts import ClaudeSession


def node(uuid: str, parent: str | None, **more: Any) -> dict[str, Any]:
    return {"type": "user", "uuid": uuid, "parentUuid": parent, **more}


@st.composite
def forests(draw: st.DrawFn) -> tuple[list[dict[str, Any]], set[int]]:
    """Draw records that hang off earlier ones, off nothing, or off a record of another file; and those that go."""
    size = draw(st.integers(1, 12))
    values = []
    for number in range(size):
        parent = draw(st.sampled_from([None, "elsewhere", *(f"u{earlier}" for earlier in range(number))]))
        values.append(node(f"u{number}", parent))
    return values, draw(st.sets(st.integers(0, size - 1)))


@settings(deadline=None)
@given(forests())
def test_kept_records_hang_off_their_nearest_kept_ancestor(case: tuple[list[dict[str, Any]], set[int]]) -> None:
    values, dropped = case
    parents = chain.relink(values, dropped)
    assert chain.broken(values, dropped, parents) == []
    above = {value["uuid"]: value["parentUuid"] for value in values}
    kept = {value["uuid"] for index, value in enumerate(values) if index not in dropped}
    for index, value in enumerate(values):
        if index in dropped:
            assert index not in parents
            continue
        expected = value["parentUuid"]
        while expected in above and expected not in kept:
            expected = above[expected]
        assert parents.get(index, value["parentUuid"]) == expected
        assert index not in parents or value["parentUuid"] not in kept


def test_the_way_up_leads_through_a_dropped_wall_to_the_old_leaf() -> None:
    session = ClaudeSession("wall")
    session.prompt("before")
    session.reply("old leaf")
    session.compact("all of it")
    session.prompt("after")
    walls = {
        index for index, value in enumerate(session.records) if chain.is_wall(value) or "isCompactSummary" in value
    }
    parents = chain.relink(session.records, walls)
    assert parents == {len(session.records) - 1: session.records[1]["uuid"]}
    assert chain.broken(session.records, walls, parents) == []


def test_a_circle_of_dropped_records_ends_the_way() -> None:
    values = [node("a", "b"), node("b", "a"), node("c", "a")]
    assert chain.relink(values, {0, 1}) == {2: None}


def test_what_something_kept_refers_to_is_protected_and_what_that_refers_to() -> None:
    wall = {
        "type": "system", "subtype": "compact_boundary", "uuid": "wall", "logicalParentUuid": "leaf",
        "compactMetadata": {
            "preservedSegment": {"headUuid": "head", "anchorUuid": 7, "tailUuid": "tail"},
            "preservedMessages": {"uuids": ["one", None], "allUuids": "no list"},
        },
    }  # fmt: skip
    last = {"type": "last-prompt", "leafUuid": "tail"}
    names = ["leaf", "head", "tail", "one", "nobody's"]
    values = [node(name, None) for name in names] + [
        wall,
        last,
        node("result", None, sourceToolAssistantUUID="nobody's"),
    ]
    everything = set(range(5))
    assert chain.protected(values, everything) == everything
    assert chain.protected(values, everything | {7}) == {0, 1, 2, 3}
    assert chain.protected(values, everything | {5, 7}) == {2}
    assert chain.protected([*values[:7], 7, None], everything | {6}) == {0, 1, 2, 3}


def test_calls_and_results_that_would_lose_each_other_are_named() -> None:
    session = ClaudeSession("pairs")
    session.prompt("two things")
    one, two = session.calls(("Bash", {"command": "a"}), ("Bash", {"command": "b"}))
    session.result(one, "a")
    session.result(two, "b")
    dropped = {1}  # the record with the first call
    parents = chain.relink(session.records, dropped)
    assert chain.broken(session.records, dropped, parents) == [f"the result of call {one.tool_id} would have no call"]
    dropped = {4}  # the second result
    assert chain.broken(session.records, dropped, {}) == [f"call {two.tool_id} would have no result"]
    assert chain.broken(session.records[:4], set(), {}) == []  # what was open before is none of our doing


def test_links_that_were_not_made_anew_are_named() -> None:
    values = [node("a", None), node("b", "a")]
    assert chain.broken(values, {0}, {}) == ["record b would hang off a, which goes"]


def test_a_new_parent_is_written_with_the_mark_and_nothing_else_changes() -> None:
    data = b'{"uuid":"a","parentUuid":null}\n{"uuid":"b","parentUuid":"a","x":"\xc3\xa9 \xff"}\n'
    snapshot = Snapshot("x", data)
    (change,) = chain.reparented(snapshot, {1: None})
    after = b"".join(map(bytes, make_plan(snapshot, [change]).pieces(data)))
    assert after.splitlines()[1] == b'{"uuid":"b","parentUuid":null,"x":"\xc3\xa9 \xff","fabulaSlimmed":true}'
