"""Copies of one record in several files, and what later scans make of them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from fabula.app.record.block import BlockRequest, block
from fabula.app.record.search import SearchRequest, search
from fabula.app.record.sessions import SessionsRequest, sessions
from fabula.hosts.claude.generations import GenerationFolder
from fabula.kernel.ids import pack_id, unpack_id
from fabula.kernel.records import KINDS
from fabula.testing.record_home import RecordHome
from fabula.testing.transcripts import ClaudeSession, json_line


def lines(session: ClaudeSession) -> list[bytes]:
    return [json_line(record) for record in session.records]


def talk() -> ClaudeSession:
    session = ClaudeSession("copies")
    session.prompt("the ocelot question")
    session.reply("the marmot answer")
    return session


def pointed_at(home: RecordHome, uid: str) -> str:
    ((path,),) = home.rows("select f.path from records r join files f on f.id=r.file_id where r.uid=?", pack_id(uid))
    return Path(path).name


def kinds_without_uuid(home: RecordHome) -> list[str]:
    """Return the kinds of the records whose id the reader derived."""
    return sorted(KINDS[kind] for (kind,) in home.rows("select kind from records where length(uid)<>16"))


def hits(home: RecordHome, words: str) -> int:
    return len(search(home.app, SearchRequest(words, all=True)).hits)


def test_each_record_points_at_its_fullest_copy_and_of_equals_at_the_earliest(
    record_home: RecordHome, tmp_path: Path
) -> None:
    session = ClaudeSession("generations")
    for number in range(5):
        session.prompt(f"question {number}")
        session.tool("Bash", {"command": f"cat {number}"}, f"whole{number} " * 40)
    whole = lines(session)
    slim = [line.replace(f"whole{n // 3} ".encode() * 40, b"[pruned]") for n, line in enumerate(whole)]
    folder = tmp_path / "sealed" / "harbor" / session.id
    folder.mkdir(parents=True)
    (folder / "v0-raw.jsonl").write_bytes(b"".join(whole[:6]))
    (folder / "v1-pruned.jsonl").write_bytes(b"".join(slim[:6] + whole[6:12]))
    live = record_home.write(session.relative_path(), b"".join(slim[:6] + whole[6:]))

    record_home.scan(extra=(GenerationFolder([tmp_path / "sealed"]),))

    results = [record["uuid"] for record in session.records[2::3]]
    assert pointed_at(record_home, session.records[0]["uuid"]) == "v0-raw.jsonl"
    assert [pointed_at(record_home, uid) for uid in results[:2]] == ["v0-raw.jsonl"] * 2
    assert pointed_at(record_home, results[4]) == live.name
    assert [record_home.raw(uid) for uid in results] == [line.rstrip(b"\n") for line in whole[2::3]]
    assert record_home.rows("select count(*) from records") == [(15,)]


@pytest.mark.parametrize("order", ["original first", "pruned first"])
def test_a_placeholder_longer_than_what_it_replaced_does_not_win(
    record_home: RecordHome, tmp_path: Path, order: str
) -> None:
    session = ClaudeSession("short")
    session.prompt("is it up?")
    result = session.tool("Bash", {"command": "ping quay"}, "emu")
    original, pruned = session.data(), session.data().replace(b'"emu"', b'"[pruned]"')
    record_home.write(session.relative_path(), original if order == "original first" else pruned)
    record_home.scan()
    if order == "original first":
        record_home.write(session.relative_path(), pruned)
        record_home.scan()
    else:
        folder = tmp_path / "sealed" / "harbor" / session.id
        folder.mkdir(parents=True)
        (folder / "v0-raw.jsonl").write_bytes(original)
        record_home.scan(extra=(GenerationFolder([tmp_path / "sealed"]),))

    assert record_home.raw(result) == original.splitlines()[-1]
    assert record_home.found("emu") == 1


def test_generations_without_a_live_file_belong_to_the_session_of_their_folder(
    record_home: RecordHome, tmp_path: Path
) -> None:
    session = talk()
    folder = tmp_path / "sealed" / "harbor" / session.id
    folder.mkdir(parents=True)
    (folder / "v0-raw.jsonl").write_bytes(session.data())

    record_home.scan(extra=(GenerationFolder([tmp_path / "sealed"]),))

    assert [line.id for line in sessions(record_home.app, SessionsRequest(all=True)).sessions] == [session.id]
    assert record_home.found("ocelot") == 1


def test_a_snapshot_that_its_transcript_dropped_is_kept_once(record_home: RecordHome, tmp_path: Path) -> None:
    session = talk()
    session.snapshot(session.records[0]["uuid"], {"/w/a.py": "0f00ba@v1"})
    folder = tmp_path / "sealed" / "harbor" / session.id
    folder.mkdir(parents=True)
    (folder / "v0-raw.jsonl").write_bytes(session.data())
    record_home.save(session)
    extra = (GenerationFolder([tmp_path / "sealed"]),)
    record_home.scan(extra=extra)
    record_home.write(session.relative_path(), b"".join(lines(session)[:2]))

    record_home.scan(extra=extra)

    assert kinds_without_uuid(record_home) == ["snapshot"]


def test_a_new_time_of_a_file_gives_no_second_row(record_home: RecordHome) -> None:
    path = record_home.save(talk())
    record_home.scan()
    tables = ("records", "passages", "passages_fts", "threads_fts", "thread_terms", "copies")
    before = [record_home.rows(f"select count(*) from {table}") for table in tables]
    os.utime(path, (1_700_000_000, 1_700_000_000))

    record_home.scan()

    assert [record_home.rows(f"select count(*) from {table}") for table in tables] == before
    assert record_home.found("ocelot") == 1


@pytest.mark.parametrize("sealed", [True, False])
def test_what_a_transcript_was_rewritten_without_is_found_if_it_was_sealed_and_else_gone(
    record_home: RecordHome, *, sealed: bool
) -> None:
    session = talk()
    path = record_home.save(session)
    record_home.scan(seal=sealed)
    first, rest = lines(session)
    path.write_bytes(rest)

    record_home.scan(seal=sealed)

    assert record_home.found("ocelot") == int(sealed)
    assert record_home.found("marmot") == 1
    assert record_home.rows("select count(*) from records") == [(2 if sealed else 1,)]
    if sealed:
        assert hits(record_home, "ocelot") == 1
        shown = block(record_home.app, BlockRequest(session.records[0]["uuid"]))
        assert (shown.to_bytes(), shown.origin) == (first.rstrip(b"\n"), "vault")


def test_a_thread_counts_all_its_records_and_knows_its_first_and_last(record_home: RecordHome) -> None:
    session = talk()
    first = session.prompt_id
    session.prompt("a second question")
    session.reply("one answer")
    last = session.reply("another answer")
    record_home.save(session)

    record_home.scan()

    rows = record_home.rows(
        "select t.uid, t.records, t.last_time>t.first_time, a.uid, z.uid, t.first_time=a.time, t.last_time=z.time"
        " from threads t join records a on a.id=t.first_record join records z on z.id=t.last_record order by t.id"
    )
    uids = [record["uuid"] for record in session.records]
    told = [(unpack_id(row[0]), row[1], row[2], unpack_id(row[3]), unpack_id(row[4]), *row[5:]) for row in rows]
    assert told == [(first, 2, 1, uids[0], uids[1], 1, 1), (session.prompt_id, 3, 1, uids[2], last, 1, 1)]


def test_a_record_without_an_id_is_kept_under_a_derived_one(record_home: RecordHome) -> None:
    session = talk()
    session.title("Census")
    session.snapshot(session.records[0]["uuid"], {"/w/a.py": "0f00ba@v1"})
    record_home.save(session)
    record_home.scan()
    before = record_home.rows("select hex(uid), kind from records order by 1")

    record_home.scan(rebuild=True)

    assert kinds_without_uuid(record_home) == ["snapshot", "title"]
    assert record_home.rows("select hex(uid), kind from records order by 1") == before


def test_the_mark_of_generated_sessions_in_a_conversation_hides_nothing(record_home: RecordHome) -> None:
    session = ClaudeSession("marked")
    session.prompt("grep for FABLE-GENERATED and <fable-x> in the ocelot module")
    session.tool("Bash", {"command": "grep -r FABLE-GENERATED"}, "FABLE-GENERATED: the lynx line")
    record_home.save(session)

    record_home.scan()

    assert (record_home.found("ocelot"), record_home.found("module"), record_home.found("lynx")) == (1, 1, 1)


def test_a_title_is_searched_after_any_number_of_scans(record_home: RecordHome) -> None:
    session = talk()
    session.title("Kittiwake census", custom=True)
    path = record_home.save(session)
    for step in range(3):
        record_home.scan()
        assert record_home.rows("select count(*) from titles_fts where titles_fts match 'kittiwake'") == [(1,)]
        session.reply(f"step {step}")
        record_home.save(session)
    path.unlink()
    record_home.scan()
    assert record_home.rows("select count(*) from titles_fts where titles_fts match 'kittiwake'") == [(1,)]


def test_facets_of_what_a_thread_gained_are_there_at_once_and_counted_once(record_home: RecordHome) -> None:
    session = talk()
    record_home.save(session)
    record_home.scan()
    session.reply("We decided to refactor `sled-zigzag`.")
    record_home.save(session)
    record_home.scan()
    told = "select kind, term, thread_id, count from terms order by 1, 2, 3"
    before = record_home.rows(told)
    record_home.scan()

    found = {(kind, term) for kind, term, *_ in before}
    assert {("operative", "decide"), ("operative", "refactor"), ("target", "sled-zigzag")} <= found
    assert record_home.rows(told) == before
    record_home.scan(rebuild=True)
    assert [row[:2] for row in record_home.rows(told)] == [row[:2] for row in before]


@pytest.mark.parametrize(
    "odd",
    [
        {"promptId": {"a": 1}},
        {"parentUuid": ["u"]},
        {"uuid": 7},
        {"timestamp": {}},
        {"message": {"role": "user", "content": [{"type": "text", "text": None}, None, 7]}},
        {"type": "file-history-snapshot", "snapshot": []},
        {"type": ["user"]},
    ],
)
def test_a_field_of_the_wrong_type_costs_no_other_record(record_home: RecordHome, odd: dict[str, Any]) -> None:
    session = talk()
    first, last = session.records
    strange = {**first, "uuid": "00000000-0000-4000-8000-000000000001", **odd}
    record_home.write(session.relative_path(), b"".join(map(json_line, (first, strange, last))))

    report = record_home.scan()

    assert report.files_failed == 0
    assert record_home.found("marmot") == 1
    assert record_home.raw(last["uuid"]) == json_line(last).rstrip(b"\n")


def test_the_signature_of_a_thought_is_never_searched(record_home: RecordHome) -> None:
    session = ClaudeSession("thought")
    session.prompt("go")
    session.say({"type": "thinking", "thinking": "pondering ocelots", "signature": "qwertysignature"})
    record_home.save(session)

    record_home.scan()

    assert (record_home.found("ocelots"), record_home.found("qwertysignature")) == (1, 0)


def test_folders_of_one_name_in_two_places_are_two_projects(record_home: RecordHome) -> None:
    for number, cwd in enumerate(("/home/mira/code/api", "/home/mira/clients/api")):
        session = ClaudeSession(f"place{number}", cwd=cwd)
        session.prompt("the ocelot question")
        record_home.save(session)

    record_home.scan()

    assert record_home.rows("select count(*), count(distinct key) from projects where label='api'") == [(2, 2)]
    here = record_home.open(cwd=Path("/home/mira/code/api"))
    assert len(search(here, SearchRequest("ocelot")).hits) == 1
