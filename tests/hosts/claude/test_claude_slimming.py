"""What slimming takes out of Claude Code's transcripts, and what it leaves whatever is chosen."""

from __future__ import annotations

import json
from typing import Any

import pytest

from fabula.hosts.claude.slimming import CATEGORIES, slim
from fabula.record.reading.sentinels import wrap
from fabula.record.rewriting.plan import Snapshot, make_plan
from fabula.record.rewriting.slimming import Saving
from fabula.testing.transcripts import PIXEL, ClaudeSession, json_line

BULK = "the tide is out " * 60
DEFAULT = frozenset(category.key for category in CATEGORIES if category.default)
EVERYTHING = frozenset(category.key for category in CATEGORIES)


def slimmed(data: bytes, chosen: frozenset[str] = DEFAULT) -> bytes:
    snapshot = Snapshot("x", data)
    plan = make_plan(snapshot, slim(snapshot, chosen).changes)
    return b"".join(map(bytes, plan.pieces(data)))


def values(session: ClaudeSession, *chosen: str) -> list[dict[str, Any]]:
    """Return the records that are left after these categories took theirs; none named: the usual ones."""
    lines = slimmed(session.data(), frozenset(chosen) or DEFAULT).splitlines()
    return [json.loads(line) for line in lines]


def saving(session: ClaudeSession, key: str, chosen: frozenset[str] = DEFAULT) -> Saving:
    weighed = slim(Snapshot("x", session.data()), chosen, weigh_others=True)
    return next(each for each in weighed.savings if each.key == key)


def block(value: dict[str, Any]) -> dict[str, Any]:
    found = value["message"]["content"][0]
    assert isinstance(found, dict)
    return found


def begun() -> ClaudeSession:
    session = ClaudeSession("slim")
    session.prompt("look at the tides")
    return session


def test_results_name_the_command_that_shows_them_and_stay_failures() -> None:
    session = begun()
    good = session.tool("Bash", {"command": "cat tides"}, BULK)
    bad = session.tool("Bash", {"command": "cat quay"}, BULK, failed=True)
    short = session.tool("Bash", {"command": "true"}, "done")
    left = {value["uuid"]: value for value in values(session)}
    assert (
        block(left[good])["content"]
        == f"[removed by fabula prune: {len(BULK)} characters — fabula record block {good[:8]}]"
    )
    assert "is_error" not in block(left[good])
    assert block(left[bad])["is_error"] is True
    assert block(left[short])["content"] == "done"
    assert "fabulaSlimmed" not in left[short]


def test_decisions_of_the_person_and_references_to_tools_stay() -> None:
    session = begun()
    answer = session.tool("AskUserQuestion", {"questions": [BULK]}, BULK)
    plan = session.tool("ExitPlanMode", {"plan": BULK}, BULK)
    call = session.calls(("ToolSearch", {"query": "x"}))[0]
    search = session.result(call, "")
    block(session.records[-1])["content"] = [{"type": "tool_reference", "tool_name": f"t{n}" * 9} for n in range(30)]
    before = session.data().splitlines()
    assert slimmed(session.data()).splitlines() == before
    assert {answer, plan, search} <= {json.loads(line).get("uuid") for line in before}


def test_inputs_keep_what_they_were_about_and_every_type() -> None:
    session = begun()
    given = {
        "command": "x" * 900, "file_path": "/" + "long/" * 100, "replace_all": False, "timeout": 5,
        "content": "y" * 500, "edits": [{"old_string": "z" * 400, "new_string": "kept"}],
    }  # fmt: skip
    session.tool("Any", given, "ok")
    session.records[1]["message"]["content"][0]["caller"] = {"type": "direct"}
    call = block(values(session)[1])
    assert call["caller"] == {"type": "direct"}
    left = call["input"]
    assert left["command"] == "x" * 200 + " … [removed by fabula prune: 700 characters]"
    assert left["content"] == "[removed by fabula prune: 500 characters]"
    assert left["edits"] == [{"old_string": "[removed by fabula prune: 400 characters]", "new_string": "kept"}]
    assert {key: left[key] for key in ("file_path", "replace_all", "timeout")} == {
        key: given[key] for key in ("file_path", "replace_all", "timeout")
    }


def test_the_second_copy_of_a_result_goes_and_the_agent_it_names_stays() -> None:
    session = begun()
    session.tool("Bash", {"command": "a"}, "ok", detail={"stdout": BULK})
    session.tool("Agent", {"prompt": "go"}, "went", detail={"agentId": "a1b2", "content": BULK})
    left = values(session)
    assert "toolUseResult" not in left[2]
    assert left[4]["toolUseResult"] == {"agentId": "a1b2"}
    assert slimmed(slimmed(session.data())) == slimmed(session.data())


def test_thinking_with_a_signature_is_never_touched() -> None:
    session = begun()
    session.reply("so", thought=BULK)
    session.say({"type": "thinking", "thinking": BULK, "signature": ""})
    session.say({"type": "redacted_thinking", "data": "c2VjcmV0"})
    session.reply("therefore")
    everything = slimmed(session.data(), EVERYTHING)
    kept = [line for line in session.data().splitlines() if b'"signature":""' not in line]
    assert [json.loads(line)["uuid"] for line in everything.splitlines()] == [json.loads(line)["uuid"] for line in kept]
    assert kept[1] in everything
    assert BULK.encode() in slimmed(session.data())
    assert saving(session, "thinking").records == 1


def test_an_unsigned_thought_goes_from_between_other_blocks() -> None:
    session = begun()
    session.say({"type": "text", "text": "a"})
    content = session.records[-1]["message"]["content"]
    content.append({"type": "thinking", "thinking": BULK})
    content.append({"type": "text", "text": "b"})
    assert values(session, "thinking")[1]["message"]["content"] == [content[0], content[2]]


def test_noise_goes_and_children_are_linked_to_the_nearest_kept_ancestor() -> None:
    session = begun()
    first = session.records[0]["uuid"]
    session.system("turn_duration", durationMs=1)
    session.system("stop_hook_summary")
    session.say({"type": "text", "text": "API Error"})
    session.records[-1]["message"]["model"] = "<synthetic>"
    session.prompt("<local-command-stdout>x</local-command-stdout>")
    session.prompt("<command-name>/exit</command-name>")
    session.other("queue-operation", operation="enqueue", content="x")
    session.other("progress", uuid="p1", parentUuid=first)
    session.prompt("go on")
    left = values(session)
    assert [value["message"]["content"] for value in left] == ["look at the tides", "go on"]
    assert left[1]["parentUuid"] == first
    assert left[1]["fabulaSlimmed"] is True


def test_the_last_title_of_each_kind_stays_where_it_is() -> None:
    session = begun()
    session.title("Tides")
    session.title("My tides", custom=True)
    session.other("last-prompt", lastPrompt="look", leafUuid=session.records[0]["uuid"])
    session.reply("done")
    session.title("Tides again")
    session.other("mode", mode="plan")
    session.other("mode", mode="normal")
    left = slimmed(session.data())
    lines = session.data().splitlines(keepends=True)
    assert left == b"".join(line for line in lines if b'"Tides"' not in line and b'"plan"' not in line)


def test_a_record_that_the_last_prompt_names_as_the_leaf_stays() -> None:
    session = begun()
    session.reply("done")
    leaf = session.system("turn_duration", durationMs=1)
    session.other("last-prompt", lastPrompt="look", leafUuid=leaf)
    assert slimmed(session.data()) == session.data()


@pytest.mark.parametrize(
    ("attachment", "stays"),
    [
        ({"type": "hook_success", "stdout": BULK}, False),
        ({"type": "task_reminder", "content": []}, False),
        ({"type": "skill_listing", "content": BULK}, False),
        ({"type": "queued_command", "prompt": "and then?"}, True),
        ({"type": "hook_additional_context", "content": [BULK]}, True),
        ({"type": "file", "content": BULK}, True),
        ({"type": "of_next_year", "content": BULK}, True),
    ],
)
def test_attachments_that_the_client_makes_anew_go_and_others_stay(attachment: dict[str, Any], stays: bool) -> None:
    session = begun()
    parent = session.leaf
    session._node("attachment", {"attachment": attachment})
    session.reply("so")
    left = values(session)
    assert any(value["type"] == "attachment" for value in left) is stays
    assert left[-1]["parentUuid"] == (session.records[1]["uuid"] if stays else parent)


def test_recalled_text_stays_named_wherever_it_stands() -> None:
    recalled = wrap(BULK, session="s", thread="t", arcs=["one", "two"])
    session = begun()
    session.prompt(f"before {recalled} after <private>mine</private>")
    session.reply(f"I read {recalled}")
    session._node("attachment", {"attachment": {"type": "hook_additional_context", "content": [recalled]}})
    session.tool("Bash", {"command": "fabula record search x"}, recalled)
    stub = '<consulted_arcs refs="one,two"/>'
    left = values(session, "sentinels")
    assert left[1]["message"]["content"] == f"before {stub} after <private>mine</private>"
    assert block(left[2])["text"] == f"I read {stub}"
    assert left[3]["attachment"]["content"] == [stub]
    assert block(left[5])["content"] == stub
    assert saving(session, "sentinels").records == 3  # the result goes with the results


def test_walls_go_only_when_they_are_chosen_and_bridge_to_the_old_leaf() -> None:
    session = begun()
    session.reply("old leaf")
    leaf = session.leaf
    session.compact("summary " * 50)
    session.prompt("after")
    assert slimmed(session.data()) == session.data()
    left = values(session, "walls")
    assert [value["type"] for value in left] == ["user", "assistant", "user"]
    assert left[2]["parentUuid"] == leaf


def test_what_a_kept_wall_refers_to_is_not_taken_from_it() -> None:
    session = begun()
    kept = session.system("turn_duration", durationMs=1)
    noise = session.system("turn_duration", durationMs=2)
    session.reply("x")
    session.compact("sum", kept=[kept])
    uuids = [value["uuid"] for value in values(session)]
    assert kept in uuids
    assert noise not in uuids


def test_pictures_and_documents_go_when_they_are_chosen_and_leave_a_word() -> None:
    session = begun()
    session.prompt("see", image=True)
    picture = session.records[-1]["message"]["content"][1]
    picture["source"]["data"] = PIXEL * 20
    session.tool("Read", {"file_path": "a.png"}, "")
    block(session.records[-1])["content"] = [picture, {"type": "text", "text": "beside"}]
    assert PIXEL.encode() in slimmed(session.data(), DEFAULT - {"results"})
    left = values(session, "images")
    size = f"{len(PIXEL) * 20:,}"
    word = {"type": "text", "text": f"[removed by fabula prune: image, {size} characters]"}
    assert left[1]["message"]["content"] == [{"type": "text", "text": "see"}, word]
    assert block(left[3])["content"] == [word, {"type": "text", "text": "beside"}]
    assert saving(session, "images").tokens == 1_500  # the one in a result goes with the results


def test_an_earlier_read_of_the_same_part_is_stale_and_another_part_is_not() -> None:
    session = begun()
    reads = [
        session.tool("Read", {"file_path": "/a"}, f"whole {BULK}"),
        session.tool("Read", {"file_path": "/a", "offset": 5}, f"part {BULK}"),
        session.tool("Read", {"file_path": "/a", "offset": 9}, f"other {BULK}"),
        session.tool("Read", {"file_path": "/a", "offset": 5}, f"part again {BULK}"),
        session.tool("Read", {"file_path": "/a", "offset": 9}, f"failed {BULK}", failed=True),
        session.tool("Read", {"file_path": "/b"}, f"other file {BULK}"),
    ]
    left = {value["uuid"]: str(block(value)["content"]) for value in values(session, "dup-reads")[2::2]}
    assert [BULK in left[read] for read in reads] == [True, False, True, True, True, True]
    assert saving(session, "dup-reads", frozenset({"dup-reads"})).records == 1
    session.tool("Read", {"file_path": "/a"}, f"whole again {BULK}")
    left = {value["uuid"]: str(block(value)["content"]) for value in values(session, "dup-reads")[2::2]}
    assert [BULK in left[read] for read in reads] == [False, False, False, False, False, True]


def test_edits_whose_file_was_edited_again_lose_their_bodies() -> None:
    session = begun()
    session.tool("Write", {"file_path": "/a", "content": f"one {BULK}"}, "ok")
    session.tool("Edit", {"file_path": "/a", "old_string": f"one {BULK}", "new_string": "x"}, "ok")
    session.tool("Edit", {"file_path": "/a", "old_string": f"two {BULK}", "new_string": "x"}, "no", failed=True)
    session.tool("Write", {"file_path": "/b", "content": f"three {BULK}"}, "ok")
    inputs = [block(value)["input"] for value in values(session, "superseded")[1::2]]
    assert "content" in inputs[0]
    assert BULK not in inputs[0]["content"]
    assert BULK in inputs[1]["old_string"]
    assert BULK in inputs[2]["old_string"]
    assert BULK in inputs[3]["content"]


def test_only_what_the_model_still_sees_counts_as_tokens() -> None:
    session = begun()
    session.tool("Bash", {"command": "early"}, BULK, detail={"stdout": BULK})
    session.compact("sum")
    assert saving(session, "results").tokens == 0
    assert saving(session, "results").bytes > 800
    session.tool("Bash", {"command": "late"}, BULK)
    assert 200 < saving(session, "results").tokens < 300
    assert saving(session, "tool-use-result").tokens == 0


def test_savings_add_up_but_for_marks_and_links() -> None:
    session = begun()
    for number in range(5):
        session.tool("Read", {"file_path": "/a"}, BULK, detail={"file": BULK})
        session.tool("Write", {"file_path": "/a", "content": BULK}, "ok")
        session.system("turn_duration", durationMs=number)
    snapshot = Snapshot("x", session.data())
    slimming = slim(snapshot, DEFAULT)
    plan = make_plan(snapshot, slimming.changes)
    saved = sum(each.bytes for each in slimming.savings)
    marks = plan.changed * len(b',"fabulaSlimmed":true')
    assert 0 <= saved - marks - (plan.head - plan.size) <= 40 * slimming.linked


STRANGE = [
    b"[]", b"7", b"null", b'"text"', b"{torn", b"{}", b'{"type":7,"uuid":[],"parentUuid":{}}',
    b'{"type":"user","message":null}', b'{"type":"user","message":{"content":7}}',
    b'{"type":"user","message":{"content":[7,null,{"type":"tool_result"},{"type":"tool_result","content":7}]}}',
    b'{"type":"assistant","message":{"content":[{"type":"tool_use","input":7},{"type":"tool_use","id":7,"name":[]}]}}',
    b'{"type":"attachment","attachment":[]}', b'{"type":"system","subtype":{},"compactMetadata":7}',
    b'{"type":"system","subtype":"compact_boundary","compactMetadata":[],"logicalParentUuid":7}',
    b'{"type":"user","uuid":"\xff","message":{"content":"\xff"}}', b'{"toolUseResult":null}',
]  # fmt: skip


def test_strange_lines_break_nothing_and_stay_as_they_are() -> None:
    data = b"\r\n".join(STRANGE) + b'\r\n{"type":"user","mess'
    assert slimmed(data, EVERYTHING - {"tool-use-result", "walls"}) == data
    slimmed(data, EVERYTHING)


def test_a_second_run_finds_nothing() -> None:
    session = begun()
    session.title("a")
    session.title("b")
    for number in range(4):
        session.tool("Read", {"file_path": "/a"}, BULK, detail={"file": BULK})
        session.tool("Bash", {"command": BULK, "description": BULK}, BULK, failed=number == 2)
        session.tool("Edit", {"file_path": "/a", "old_string": BULK, "new_string": BULK}, "ok")
        session.system("turn_duration", durationMs=number)
        session.prompt(wrap(BULK, session="s", thread="t", arcs=["x"]), image=True)
    session.compact("sum")
    once = slimmed(session.data(), EVERYTHING)
    assert slimmed(once, EVERYTHING) == once
    again = slim(Snapshot("x", once), EVERYTHING)
    assert not any(each.records for each in again.savings)


def test_untouched_lines_are_copied_byte_for_byte() -> None:
    session = begun()
    session.tool("Bash", {"command": "x"}, BULK)
    strange = b'{"uuid" : "e",\t"type":"user","n":1.50,"message":{"role":"user","content":"\\u00e9 \xff"}}\r\n'
    data = session.data() + strange + json_line({"type": "of-next-year", "x": 1})
    after = slimmed(data)
    assert after.endswith(strange + json_line({"type": "of-next-year", "x": 1}))
    assert after.splitlines(keepends=True)[:2] == data.splitlines(keepends=True)[:2]
