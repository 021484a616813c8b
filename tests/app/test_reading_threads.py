"""Threads and blocks read through the whole record: exact, complete, and still there when the source is gone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fabula.app.record.block import BlockRequest, block
from fabula.app.record.thread import ThreadRequest, ThreadResult, thread
from fabula.kernel.errors import FabulaError
from fabula.record.loader import Loader, Row
from fabula.testing.record_home import RecordHome
from fabula.testing.transcripts import ClaudeSession


@pytest.fixture
def home(tmp_path: Path) -> RecordHome:
    return RecordHome(tmp_path)


def session_with_everything() -> ClaudeSession:
    session = ClaudeSession("all")
    session.prompt("Why does the pivot fail?")
    calls = session.calls(*(("Bash", {"command": f"pytest -q part{n}"}) for n in range(3)))
    for call in calls:
        session.result(call, "line of output\n" * 200)
    with session.abandoned():
        session.reply("an attempt that was given up")
    session.reply("The pivot is off by one.")
    return session


def read(home: RecordHome, target: str, **more: object) -> ThreadResult:
    return thread(home.app, ThreadRequest(target, **more))  # type: ignore[arg-type]


def test_a_thread_is_found_by_its_prompt_id_its_beginning_and_any_record_in_it(home: RecordHome) -> None:
    session = session_with_everything()
    home.save(session)
    by_prompt = read(home, session.prompt_id)
    assert by_prompt.id == session.prompt_id
    assert by_prompt.session == session.id
    assert read(home, session.prompt_id[:9]).text == by_prompt.text
    assert read(home, session.records[2]["uuid"]).text == by_prompt.text
    assert by_prompt.fresh.fresh


def test_a_session_id_lists_its_threads(home: RecordHome) -> None:
    session = session_with_everything()
    session.prompt("And then?")
    home.save(session)
    result = read(home, session.id)
    assert [line.opening for line in result.threads] == ["Why does the pivot fail?", "And then?"]
    assert result.text == ""


def test_parallel_results_are_live_and_only_the_retry_is_a_branch(home: RecordHome) -> None:
    session = session_with_everything()
    home.save(session)
    result = read(home, session.prompt_id)
    assert (result.turns, result.branch_turns, result.sidechain_turns) == (8, 1, 0)
    assert result.text.index("off by one") < result.text.index("edit-branches") < result.text.index("given up")


def test_a_budget_cuts_results_and_names_the_record(home: RecordHome) -> None:
    session = session_with_everything()
    home.save(session)
    result = read(home, session.prompt_id, budget=900)
    assert result.cut_pieces == 3
    uid = next(
        record["uuid"] for record in session.records if "toolUseResult" in record or "sourceToolAssistantUUID" in record
    )
    assert f"… [truncated — fabula record block {uid}]" in result.text
    assert not result.exceeds_budget
    assert read(home, session.prompt_id).cut_pieces == 0


def test_the_sentinel_can_be_left_out(home: RecordHome) -> None:
    session = session_with_everything()
    home.save(session)
    assert read(home, session.prompt_id).text.startswith(f'<historical_context session="{session.id}"')
    assert "historical_context" not in read(home, session.prompt_id, no_sentinel=True).text


def test_raw_records_are_the_lines_of_the_file(home: RecordHome) -> None:
    session = session_with_everything()
    home.save(session)
    records = read(home, session.prompt_id, raw=True).records
    lines = session.data().splitlines()
    assert [record.to_bytes() for record in records] == lines
    assert json.loads(records[0].data) == session.records[0]


def test_a_subagent_file_is_a_sidechain_of_the_thread_that_started_it(home: RecordHome) -> None:
    session = ClaudeSession("main")
    session.prompt("Look around")
    (call,) = session.calls(("Task", {"description": "look", "prompt": "find the pivot"}))
    helper = ClaudeSession("main", clock=session.clock, agent="a7", parent_session=session.id)
    helper.task("find the pivot")
    helper.reply("found it in zigzag.py")
    session.result(call, "it is in zigzag.py", detail={"agentId": "a7", "status": "completed"})
    session.reply("Thanks.")
    home.save(session)
    home.save(helper)
    result = read(home, session.prompt_id)
    assert result.sidechain_turns == 2
    assert (
        result.text.index("Thanks.") < result.text.index("-- sidechain (subagent) a7") < result.text.index("found it")
    )


@pytest.mark.parametrize("as_blocks", [True, False])
def test_recalled_text_in_a_prompt_renders_one_sentinel_and_a_stub(home: RecordHome, *, as_blocks: bool) -> None:
    words = 'see <historical_context session="s" thread="p7" arcs="p7">old words</historical_context> there'
    session = ClaudeSession("recalled")
    session.prompt(words, image=as_blocks)
    home.save(session)
    out = read(home, session.prompt_id).text
    assert out.count("<historical_context") == 1
    assert '<consulted_arcs refs="p7"/>' in out
    assert "old words" not in out


def test_private_text_and_secrets_are_not_shown_but_the_block_is_exact(home: RecordHome) -> None:
    session = ClaudeSession("secret")
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    uid = session.prompt(f"use {token} and <private>my street</private>")
    home.save(session)
    out = read(home, session.prompt_id).text
    assert token not in out
    assert "my street" not in out
    assert block(home.app, BlockRequest(uid)).to_bytes() == session.data().splitlines()[0]


def test_a_block_is_the_exact_bytes_even_when_they_are_no_utf8(home: RecordHome) -> None:
    session = ClaudeSession("bytes")
    uid = session.prompt("a BYTE b")
    line = session.data().replace(b"BYTE", b"\xff\xfe")
    home.write("projects/p/" + session.id + ".jsonl", line)
    result = block(home.app, BlockRequest(uid))
    assert result.to_bytes() == line.rstrip(b"\n")
    assert (result.encoding, result.length, result.origin) == ("base64", len(line) - 1, "live")


def test_an_unknown_record_is_an_error(home: RecordHome) -> None:
    home.save(session_with_everything())
    with pytest.raises(FabulaError) as caught:
        block(home.app, BlockRequest("ffffffff-0000-4000-a000-000000000000"))
    assert caught.value.code == "ERR_NOT_FOUND"


def test_a_deleted_transcript_is_still_served_from_the_vault(home: RecordHome) -> None:
    session = session_with_everything()
    path = home.save(session)
    before = read(home, session.prompt_id)
    assert before.origins == {"live": len(session.records)}
    path.unlink()
    home.app = home.open()
    after = read(home, session.prompt_id)
    assert after.text == before.text
    assert after.origins == {"vault": len(session.records)}
    first = block(home.app, BlockRequest(session.records[0]["uuid"]))
    assert (first.to_bytes(), first.origin) == (session.data().splitlines()[0], "vault")


def test_an_appended_file_is_read_on(home: RecordHome) -> None:
    session = session_with_everything()
    home.save(session)
    first = block(home.app, BlockRequest(session.records[0]["uuid"]))
    uid = session.reply("and one thing more")
    home.save(session)
    assert "and one thing more" in read(home, session.prompt_id).text
    assert block(home.app, BlockRequest(session.records[0]["uuid"])).data == first.data
    assert "one thing more" in block(home.app, BlockRequest(uid)).data


def test_a_rewritten_file_gives_its_new_text_and_the_vault_the_old_one(home: RecordHome) -> None:
    session = session_with_everything()
    path = home.save(session)
    old = read(home, session.prompt_id)
    other = ClaudeSession("other", clock=session.clock)
    for number in range(40):
        other.prompt(f"entirely new text {number}")
    path.write_bytes(other.data())
    assert "entirely new text 39" in read(home, other.prompt_id).text
    again = read(home, session.prompt_id)
    assert again.text == old.text
    assert again.origins == {"vault": len(session.records)}


@pytest.mark.parametrize("size", ["shorter", "longer"])
def test_foreign_bytes_are_never_served_without_a_vault(home: RecordHome, size: str) -> None:
    session = session_with_everything()
    path = home.save(session)
    home.scan(seal=False)
    other = ClaudeSession("other")
    for number in range(1 if size == "shorter" else 40):
        other.prompt(f"entirely new text {number}")
    path.write_bytes(other.data())
    loader = home.app.loader()
    with pytest.raises(FabulaError) as caught:
        loader.raw(loader.row(session.records[0]["uuid"]))
    assert caught.value.code == "ERR_STALE"


def test_one_lost_record_does_not_cost_the_thread(home: RecordHome, monkeypatch: pytest.MonkeyPatch) -> None:
    session = session_with_everything()
    home.save(session)
    home.scan()
    lost = session.records[1]["uuid"]
    load = Loader.load

    def failing(loader: Loader, rows: list[Row]) -> object:
        if any(row.uid == lost for row in rows):
            raise FabulaError("ERR_VAULT_DAMAGED", "sealed bytes do not match")
        return load(loader, rows)

    monkeypatch.setattr(Loader, "load", failing)
    result = read(home, session.prompt_id)
    assert [one.id for one in result.unreadable] == [lost]
    assert "[this record cannot be read: sealed bytes do not match]" in result.text
    assert "The pivot is off by one." in result.text


def test_a_thread_that_is_lost_as_a_whole_is_an_error(home: RecordHome, monkeypatch: pytest.MonkeyPatch) -> None:
    session = session_with_everything()
    home.save(session)
    home.scan()

    def failing(loader: Loader, rows: list[Row]) -> object:
        raise FabulaError("ERR_STALE", "no copy is left")

    monkeypatch.setattr(Loader, "load", failing)
    with pytest.raises(FabulaError) as caught:
        read(home, session.prompt_id)
    assert caught.value.code == "ERR_STALE"
