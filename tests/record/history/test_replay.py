"""The contents of a file after each thing that happened to it."""

from __future__ import annotations

from typing import Any

import pytest

from fabula.kernel.records import Block
from fabula.record.history.actions import actions
from fabula.record.history.anchors import Contents, before_edit, listed, read_back
from fabula.record.history.replay import Event, Turn, Version, replay

PATH = "/w/a.py"


def event(tool: str, /, *, answer: str = "", failed: bool = False, answered: bool = True, detail: Any = None,
          time: int = 0, **given: Any) -> Event:  # fmt: skip
    block = Block("call", tool=tool, tool_id="t", input={"file_path": PATH, **given})
    (action,) = actions(block, "/w")
    return Event(Turn("u", "t", "s", "claude", "w", time), PATH, action, failed, answered, answer, detail)


def write(content: str, **rest: Any) -> Event:
    return event("Write", content=content, **rest)


def edit(old: str, new: str, **rest: Any) -> Event:
    return event("Edit", old_string=old, new_string=new, **rest)


def read(text: str, **rest: Any) -> Event:
    numbered = "\n".join(f"{number:6}\t{line}" for number, line in enumerate(text.split("\n"), 1))
    return event("Read", answer=numbered, **rest)


def backup(contents: str) -> Event:
    return Event(Turn("b", "", "s", "claude", "w", 0), PATH, backup=contents)


def told(versions: list[Version]) -> list[tuple[str, str | None, str]]:
    return [(version.operation, version.content, version.fidelity) for version in versions]


def test_writes_and_edits_make_versions_in_order() -> None:
    versions = replay([write("a\n"), edit("a", "b"), edit("b", "c")])
    assert told(versions) == [("write", "a\n", "exact"), ("edit", "b\n", "exact"), ("edit", "c\n", "exact")]
    assert [version.number for version in versions] == [1, 2, 3]


def test_a_failed_edit_changes_nothing() -> None:
    assert told(replay([write("a\n"), edit("x", "y", failed=True), edit("a", "b")]))[-1] == ("edit", "b\n", "exact")


def test_a_lost_edit_breaks_the_chain_until_the_next_write() -> None:
    versions = replay([write("a\n"), edit("x", "y"), edit("y", "z"), write("w\n"), edit("w", "v")])
    assert [version.content for version in versions] == ["a\n", None, None, "w\n", "v\n"]
    assert versions[1].fidelity == "partial"
    assert "does not apply" in versions[1].note


def test_a_read_of_the_same_contents_adds_nothing() -> None:
    assert len(replay([write("a\n"), read("a\n"), read("a\n")])) == 1
    assert len(replay([write("a\n"), event("Read", answer="     1\ta")])) == 1


def test_a_read_of_other_contents_shows_a_change_out_of_band() -> None:
    versions = replay([write("a\n"), read("b\n"), edit("b", "c")])
    assert told(versions) == [("write", "a\n", "exact"), ("read", "b\n", "exact"), ("edit", "c\n", "exact")]
    assert "out of band" in versions[1].note


def test_a_backup_anchors_like_a_read() -> None:
    versions = replay([edit("x", "y"), backup("a\n"), edit("a", "b")])
    assert told(versions) == [("edit", "a\n", "derived"), ("snapshot", "a\n", "exact"), ("edit", "b\n", "exact")]


def test_an_edit_that_fails_to_apply_is_derived_from_the_read_after_it() -> None:
    versions = replay([write("a\n"), edit("x", "y"), read("1\ny\n"), edit("1", "2")])
    assert told(versions) == [
        ("write", "a\n", "exact"),
        ("edit", "1\ny\n", "derived"),
        ("read", "1\ny\n", "exact"),
        ("edit", "2\ny\n", "exact"),
    ]
    assert "rebuilt backward from version 3" in versions[1].note


def test_edits_before_an_anchor_are_rebuilt_by_taking_back_what_came_between() -> None:
    versions = replay([edit("a", "b"), edit("c", "d"), read("b d\n")])
    assert told(versions)[:2] == [("edit", "b c\n", "derived"), ("edit", "b d\n", "derived")]


@pytest.mark.parametrize("between", [edit("", "z"), edit("q", "d", replace_all=True), edit("q", "")])
def test_nothing_is_rebuilt_across_what_cannot_be_taken_back(between: Event) -> None:
    versions = replay([edit("a", "b"), between, read("b d\n")])
    assert versions[0].content is None


def test_nothing_is_rebuilt_across_a_write() -> None:
    assert replay([edit("a", "b"), write("x\n")])[0].content is None


def test_the_client_s_copy_of_what_was_before_is_an_anchor() -> None:
    versions = replay([edit("a", "b", detail={"originalFile": "a 1\n"})])
    assert told(versions) == [("before", "a 1\n", "exact"), ("edit", "b 1\n", "exact")]
    versions = replay([write("a\n"), edit("x", "y", detail={"originalFile": "x\n"})])
    assert told(versions)[1:] == [("before", "x\n", "exact"), ("edit", "y\n", "exact")]
    assert "out of band" in versions[1].note


def test_an_edit_that_a_person_changed_counts_as_it_was_made() -> None:
    patch = [{"oldStart": 1, "lines": ["-a", "+mine"]}]
    detail = {"originalFile": "a\n", "userModified": True, "structuredPatch": patch}
    assert replay([write("a\n"), edit("a", "b", detail=detail)])[-1].content == "mine\n"


def test_a_deleted_file_has_no_contents_and_can_be_made_again() -> None:
    patch = f"*** Begin Patch\n*** Delete File: {PATH}\n"
    (action,) = actions(Block("call", tool="apply_patch", input={"patch": patch}), "/w")
    gone = Event(Turn("u", "t", "s", "codex", "w", 0), PATH, action)
    versions = replay([write("a\n"), gone, write("b\n")])
    assert [(version.deleted, version.content) for version in versions] == [
        (False, "a\n"),
        (True, None),
        (False, "b\n"),
    ]


def test_an_edit_without_a_result_is_no_certainty() -> None:
    versions = replay([write("a\n"), edit("a", "b", answered=False)])
    assert told(versions)[1] == ("edit", "b\n", "derived")
    assert "no result" in versions[1].note


def test_a_shell_command_that_failed_leaves_the_contents_unknown() -> None:
    block = Block("call", tool="Bash", tool_id="t", input={"command": f"cat > {PATH} <<'E'\nx\nE\nfalse"})
    (action,) = actions(block, "/w")
    failed = Event(Turn("u", "t", "s", "claude", "w", 0), PATH, action, failed=True)
    assert told(replay([write("a\n"), failed])) == [("write", "a\n", "exact"), ("write", None, "partial")]


def test_a_change_in_place_is_known_but_not_its_bytes() -> None:
    block = Block("call", tool="Bash", tool_id="t", input={"command": f"sed -i s/a/b/ {PATH}"})
    (action,) = actions(block, "/w")
    versions = replay([write("a\n"), Event(Turn("u", "t", "s", "claude", "w", 0), PATH, action)])
    assert versions[1].content is None
    assert "does not tell" in versions[1].note


# ── whole contents ───────────────────────────────────────────────────


def test_a_listing_is_whole_only_from_its_first_line() -> None:
    assert listed("     1\ta\n     2\tb") == Contents("a\nb\n", end_known=False)
    assert listed("     1→a\n     2→") == Contents("a\n")
    assert listed("     2\tb") is None
    assert listed("     1\ta\n     3\tb") is None
    assert listed("File does not exist.") is None
    assert listed("") is None
    assert listed("     1\ta\n\n<system-reminder>careful</system-reminder>\n") == Contents("a\n", end_known=False)
    assert listed("\n".join(f"{n}\tx" for n in range(1, 2001))) is None


def test_the_client_s_copy_of_a_read_beats_its_listing() -> None:
    file = {"content": "a\n", "numLines": 2, "totalLines": 2, "startLine": 1}
    assert read_back("     1\ta", {"file": file}) == Contents("a\n")
    assert read_back("     1\ta", {"file": {**file, "totalLines": 9}}) is None
    assert read_back("     1\ta", {"file": {**file, "startLine": 2}}) is None
    assert read_back("     1\ta", {"file": "strange"}) == Contents("a\n", end_known=False)


@pytest.mark.parametrize("detail", [None, "Error: no", {"originalFile": None}, {"originalFile": 3}, []])
def test_a_strange_detail_says_nothing(detail: object) -> None:
    assert before_edit(detail) is None
