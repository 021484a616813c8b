"""Composing a session: the chosen threads in their order, complete, nothing of the sources changed or counted again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from composing_builders import blocks, chain, composed, lines, threads, work

from fabula.app.record.session import SessionRequest, session
from fabula.kernel.errors import FabulaError
from fabula.record.vault.keepsakes import Keepsakes
from fabula.testing.record_home import RecordHome
from fabula.testing.rollouts import CodexRollout
from fabula.testing.transcripts import ClaudeSession


@pytest.fixture
def home(tmp_path: Path) -> RecordHome:
    return RecordHome(tmp_path)


def test_the_threads_stand_in_the_order_asked_for_each_behind_its_seam(home: RecordHome) -> None:
    source = work()
    home.save(source)
    first, second = threads(source)
    made = composed(home, second, first, title="Turned round", apply=True)
    records = lines(made.path)
    assert records[0] == {**records[0], "type": "custom-title", "customTitle": "Turned round"}
    assert records[-1] == records[0]
    assert [record["fabulaSeam"]["thread"] for record in records if "fabulaSeam" in record] == [second, first]
    texts = json.dumps(records)
    assert texts.index("And the option chain?") < texts.index("Why does the pivot fail?")
    assert {record["sessionId"] for record in records} == {made.session}
    assert made.path == str(Path(made.folder, made.session + ".jsonl"))
    assert made.resume.endswith(f"claude --resume {made.session}")
    assert Path(made.path).stat().st_mode & 0o777 == 0o600


def test_every_record_is_in_one_chain_and_every_call_has_its_result(home: RecordHome) -> None:
    source = work()
    home.save(source)
    records = lines(composed(home, *threads(source), apply=True).path)
    assert chain(records) == [record for record in records if "uuid" in record]
    asked = [block["id"] for block in blocks(records) if block["type"] == "tool_use"]
    answered = [block["tool_use_id"] for block in blocks(records) if block["type"] == "tool_result"]
    assert len(asked) == 4
    assert sorted(asked) == sorted(answered)
    by_uuid = {record["uuid"]: record for record in records if "uuid" in record}
    for record in records:
        if "sourceToolAssistantUUID" in record:
            (result,) = record["message"]["content"]
            (call,) = by_uuid[record["sourceToolAssistantUUID"]]["message"]["content"]
            assert call["id"] == result["tool_use_id"]


def test_nothing_that_tells_records_or_responses_apart_is_shared_with_the_source(home: RecordHome) -> None:
    source = work()
    home.save(source)
    records = lines(composed(home, *threads(source), apply=True).path)

    def identities(of: list[dict[str, Any]]) -> set[str]:
        found = {
            record[key] for record in of for key in ("uuid", "promptId", "sessionId", "requestId") if key in record
        }
        found |= {record["message"]["id"] for record in of if record.get("message", {}).get("id")}
        return found | {block["id"] for block in blocks(of) if block["type"] == "tool_use"}

    assert not identities(records) & identities(source.records)
    originals = {record["uuid"] for record in source.records if "uuid" in record}
    assert {record["fabulaComposedFrom"] for record in records if record.get("fabulaComposedFrom")} <= originals
    assert len({record["message"]["id"] for record in records if record.get("message", {}).get("id")}) == 6
    assert not [record for record in records if "usage" in record.get("message", {})]


def test_signed_thoughts_stay_as_they_are_unless_they_are_not_wanted(home: RecordHome) -> None:
    source = work()
    home.save(source)
    (thought,) = [block for block in blocks(source.records) if block["type"] == "thinking"]
    made = composed(home, *threads(source), apply=True)
    assert thought in list(blocks(lines(made.path)))
    bare = composed(home, *threads(source), no_thoughts=True, apply=True)
    assert "thinking" not in {block["type"] for block in blocks(lines(bare.path))}
    assert bare.threads[0].left_out["thoughts (not wanted)"] == 1


def test_the_preview_writes_nothing_and_says_what_it_would_leave_out(home: RecordHome) -> None:
    source = work()
    path = home.save(source)
    home.scan()
    before = sorted(path.parent.iterdir())
    shown = composed(home, *threads(source))
    assert sorted(path.parent.iterdir()) == before
    assert (shown.applied, shown.session, shown.path) == (False, "", "")
    assert shown.threads[0].left_out["abandoned branches"] == 1
    done = composed(home, *threads(source), apply=True)
    assert done.bytes == shown.bytes == Path(done.path).stat().st_size
    assert [line.records for line in done.threads] == [line.records for line in shown.threads]


def test_the_sources_and_all_that_was_counted_stay_as_they_were(home: RecordHome) -> None:
    source = work()
    path = home.save(source)
    home.scan()
    tables = ("touches", "failures", "responses", "spawns")
    before = [home.rows(f"select count(*) from {table}") for table in tables]
    uids = threads(source)
    own = [session(home.app, SessionRequest(source.id)).threads, path.read_bytes()]
    composed(home, *uids, apply=True)
    assert [home.rows(f"select count(*) from {table}") for table in tables] == before
    assert [session(home.app, SessionRequest(source.id)).threads, path.read_bytes()] == own
    home.scan(rebuild=True)
    assert [home.rows(f"select count(*) from {table}") for table in tables] == before
    assert session(home.app, SessionRequest(source.id)).threads == own[0]


def test_the_record_says_what_a_session_was_composed_from(home: RecordHome) -> None:
    source = work()
    home.save(source)
    first, second = threads(source)
    made = composed(home, second, first, apply=True)
    shown = session(home.app, SessionRequest(made.session))
    assert [(origin.thread, origin.session) for origin in shown.composed_from] == [
        (second, source.id),
        (first, source.id),
    ]
    assert [line.opening for line in shown.threads] == ["Why does the pivot fail?", "And the option chain?"]
    assert session(home.app, SessionRequest(source.id)).composed_from == ()
    home.scan(rebuild=True)
    assert session(home.app, SessionRequest(made.session)).composed_from == shown.composed_from


def test_a_seam_is_neither_a_prompt_nor_searched(home: RecordHome) -> None:
    source = work()
    home.save(source)
    composed(home, *threads(source), apply=True)
    assert home.rows("select count(*) from records where kind=0") == [(4,)]  # two prompts, and their copies
    assert home.found("taken") == home.found("history") == 0


def test_a_composed_session_can_be_composed_again(home: RecordHome) -> None:
    source = work()
    home.save(source)
    first, _ = threads(source)
    once = composed(home, *threads(source), apply=True)
    own = [line.id for line in session(home.app, SessionRequest(once.session)).threads]
    twice = composed(home, first, own[0], apply=True)
    records = lines(twice.path)
    asked = [block["id"] for block in blocks(records) if block["type"] == "tool_use"]
    assert len(asked) == len(set(asked)) == 6
    origins = session(home.app, SessionRequest(twice.session)).composed_from
    assert [origin.session for origin in origins] == [source.id, once.session]


def test_threads_whose_file_is_gone_come_from_the_vault(home: RecordHome) -> None:
    source = work()
    path = home.save(source)
    expected = composed(home, *threads(source))
    path.unlink()
    made = composed(home, *threads(source), apply=True)
    assert made.bytes == expected.bytes
    assert "The pivot was off by one." in Path(made.path).read_text()


def test_the_same_clock_and_the_same_randomness_give_the_same_bytes(home: RecordHome) -> None:
    source = work()
    home.save(source)
    home.app.entropy = lambda count: b"s" * count
    first = composed(home, *threads(source), apply=True)
    data = Path(first.path).read_bytes()
    Path(first.path).unlink()
    second = composed(home, *threads(source), apply=True)
    assert (second.path, Path(second.path).read_bytes()) == (first.path, data)


def test_a_file_that_exists_is_never_replaced(home: RecordHome) -> None:
    source = work()
    home.save(source)
    home.app.entropy = lambda count: b"s" * count
    first = composed(home, *threads(source), apply=True)
    Path(first.path).write_bytes(b"somebody else's\n")
    with pytest.raises(FabulaError) as error:
        composed(home, threads(source)[0], apply=True)
    assert error.value.code == "ERR_PATH"
    assert Path(first.path).read_bytes() == b"somebody else's\n"
    assert [entry.name for entry in Path(first.folder).iterdir() if "tmp" in entry.name] == []


def test_cards_stand_for_threads(home: RecordHome) -> None:
    source = work()
    home.save(source)
    home.scan()
    first, _ = threads(source)
    keepsakes = Keepsakes.open(home.app.home.vault, home.clock)
    card = {
        "title": "Fix the pivot",
        "type": "decision",
        "decisions": ["start at one"],
        "outcome": "fixed </fabula-seam>",
    }
    keepsakes.keep_card(first, json.dumps(card))
    keepsakes.close()
    made = composed(home, first, cards=True, apply=True)
    text = Path(made.path).read_text()
    assert "start at one" in text
    assert f"fabula record thread {first}" in text
    assert "off by one" not in text
    assert text.count("</fabula-seam>") == 1
    assert made.threads[0].left_out == {"records for which the card stands": 11}


@pytest.mark.parametrize(
    ("more", "code"),
    [({"cards": True}, "ERR_NOT_FOUND"), ({"cwd": Path("/no/such/folder")}, "ERR_PATH")],
)
def test_what_cannot_be_done_is_refused_and_nothing_is_written(
    home: RecordHome, more: dict[str, Any], code: str
) -> None:
    source = work()
    path = home.save(source)
    for names in (threads(source), [threads(source)[0]]):
        with pytest.raises(FabulaError) as error:
            composed(home, *names, apply=True, **more)
        assert error.value.code == code
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]


def test_unknown_threads_and_threads_named_twice_are_refused(home: RecordHome) -> None:
    source = work()
    home.save(source)
    first, _ = threads(source)
    with pytest.raises(FabulaError, match="nothing-like-it"):
        composed(home, "nothing-like-it")
    with pytest.raises(FabulaError, match="named twice"):
        composed(home, first, source.id)


def test_the_folder_is_the_one_in_which_the_client_looks(home: RecordHome, tmp_path: Path) -> None:
    source = work()
    home.save(source)
    folder = tmp_path / "b.c" / "d_e f😀"
    folder.mkdir(parents=True)
    link = tmp_path / "link"
    link.symlink_to(folder)
    made = composed(home, *threads(source), cwd=link, apply=True)
    real = str(folder.resolve())
    assert made.cwd == real
    assert Path(made.folder).name.endswith("b-c-d-e-f--")
    assert {record["cwd"] for record in lines(made.path) if "cwd" in record} == {real}


def test_interrupted_calls_and_compactions_stay_out(home: RecordHome) -> None:
    source = ClaudeSession("cut")
    source.prompt("Begin.")
    source.reply("Begun.")
    source.compact("All that was before.")
    source.reply("Going on.")
    source.say({"type": "thinking", "thinking": "Now?", "signature": "abc"}, {
        "type": "tool_use", "id": "toolu_lost", "name": "Bash", "input": {"command": "sleep 9"},
    })  # fmt: skip
    home.save(source)
    made = composed(home, source.prompt_id, apply=True)
    records = lines(made.path)
    assert chain(records) == [record for record in records if "uuid" in record]
    said = [block.get("text") for block in blocks(records)]
    assert said == ["Begun.", "Going on."]
    left = made.threads[0].left_out
    assert left["calls without a result"] == left["thoughts of answers that were never given"] == 1
    assert left["compactions (what they summed up is here itself)"] == 2


def test_a_thread_of_which_nothing_can_go_in_is_named_and_left_out(home: RecordHome) -> None:
    source = work()
    source.prompt("And last?")
    empty = source.prompt_id
    source.records.pop()
    source.leaf = None
    source.compact("All of it.")
    home.save(source)
    made = composed(home, source.id, cwd=home.folder)
    assert empty not in [line.id for line in made.threads]
    reason = "compactions (what they summed up is here itself) (1)"
    assert made.notes == (f"nothing of thread {empty} can be taken over: {reason}",)
    with pytest.raises(FabulaError, match="compactions"):
        composed(home, empty)


def test_threads_of_other_agents_go_in_as_text(home: RecordHome) -> None:
    rollout = CodexRollout("codex")
    rollout.prompt("Why is the sweep slow?")
    rollout.shell("pytest -q", "1 failed", code=1)
    rollout.reply("It walks all buckets.")
    rollout.save(home.folder / ".codex")
    home.scan()
    before = home.rows("select count(*) from failures")
    made = composed(home, rollout.id, cwd=home.folder, apply=True)
    records = lines(made.path)
    assert chain(records) == [record for record in records if "uuid" in record]
    said = [(record["type"], block["text"]) for record in records[2:-1] for block in blocks([record])]
    assert said[0] == ("user", "Why is the sweep slow?")
    assert said[1][0] == "assistant"
    assert said[1][1].startswith("[tool_use exec_command]")
    assert said[2][0] == "user"
    assert said[2][1].startswith("[tool_result failed]")
    assert said[-1] == ("assistant", "It walks all buckets.")
    assert "another agent's session" in records[1]["message"]["content"]
    assert made.threads[0].records == len(said)
    assert home.rows("select count(*) from failures") == before
