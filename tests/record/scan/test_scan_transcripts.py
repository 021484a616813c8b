"""A scan takes transcripts in, and later scans take in what changed."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from fabula.app.record.verify import VerifyRequest, verify
from fabula.hosts.claude.generations import GenerationFolder
from fabula.testing.record_home import RecordHome
from fabula.testing.transcripts import ClaudeSession, json_line


def talk(seed: str = "one", word: str = "zigzag") -> ClaudeSession:
    session = ClaudeSession(seed)
    session.prompt(f"why does the {word} parser stall")
    session.reply(f"the {word} parser waits for a lock")
    return session


def test_a_first_scan_makes_every_record_searchable(record_home: RecordHome) -> None:
    record_home.save(talk())

    report = record_home.scan()

    assert (report.files_read, report.records_added, report.files_failed) == (1, 2, 0)
    assert record_home.found("zigzag") == 1


def test_a_second_scan_reads_nothing_and_changes_nothing(record_home: RecordHome) -> None:
    path = record_home.save(talk())
    old = path.stat().st_mtime - 60
    os.utime(path, (old, old))
    record_home.scan()
    before = record_home.rows("select * from records")

    report = record_home.scan()

    assert (report.files_read, report.files_unchanged) == (0, 1)
    assert record_home.rows("select * from records") == before


def test_a_grown_file_costs_its_tail_and_the_new_records_join_their_thread(record_home: RecordHome) -> None:
    session = talk()
    path = record_home.save(session)
    record_home.scan()
    size = path.stat().st_size
    last = session.reply("released by the quokka commit")
    record_home.save(session)

    report = record_home.scan()

    assert report.bytes_read == path.stat().st_size - size
    assert record_home.found("quokka") == 1
    assert record_home.rows("select records from threads where id=?", record_home.thread_of(last)) == [(3,)]


def test_growth_in_several_small_steps_is_never_taken_for_rewriting(record_home: RecordHome) -> None:
    session = talk()
    record_home.save(session)
    record_home.scan()
    for step in range(5):
        session.reply(f"step{step} done")
        record_home.save(session)
        assert record_home.scan().records_added == 1
    assert record_home.rows("select count(*), max(generation) from files") == [(1, -1)]


def test_a_half_written_line_waits_and_is_taken_when_it_is_complete(record_home: RecordHome) -> None:
    session = talk()
    path = record_home.save(session)
    whole = session.data()
    session.reply("the narwhal line")
    line = session.data()[len(whole) :]
    path.write_bytes(whole + line[:40])
    record_home.scan()
    assert record_home.rows("select waiting from files") == [(40,)]

    path.write_bytes(whole + line)
    record_home.scan()

    assert record_home.found("narwhal") == 1
    assert record_home.rows("select waiting, generation from files") == [(0, -1)]


def test_lines_after_a_malformed_one_are_taken_in(record_home: RecordHome) -> None:
    session = talk()
    path = record_home.save(session)
    record_home.scan()
    size = len(session.data())
    session.reply("the pangolin line")
    data = session.data()
    path.write_bytes(data[:size] + b'{"type":"user","uuid":"cut-off\n' + data[size:])

    record_home.scan()

    assert record_home.found("pangolin") == 1


@pytest.mark.parametrize(
    "line", [b"[]", b'"text"', b"7", b"null", b"NaN", b'{"type":"user","message":{"content":null}}']
)
def test_a_strange_line_costs_no_neighbour(record_home: RecordHome, line: bytes) -> None:
    data = talk().data()
    first, rest = data.split(b"\n", 1)
    record_home.write("projects/-p/s.jsonl", first + b"\n" + line + b"\n" + rest)

    report = record_home.scan()

    assert (report.files_failed, record_home.found("zigzag")) == (0, 1)
    assert record_home.rows("select count(*) from records where flags & 8 = 0") == [(2,)]


def test_invalid_utf8_early_in_a_file_hides_neither_it_nor_others(record_home: RecordHome) -> None:
    data = talk().data().replace(b"waits for", b"waits \xff for", 1)
    record_home.write("projects/-p/bad.jsonl", data)
    record_home.save(talk("two", "quokka"))

    record_home.scan()

    assert (record_home.found("zigzag"), record_home.found("quokka")) == (1, 1)


def test_the_bytes_of_a_record_come_back_exactly_even_with_invalid_utf8(record_home: RecordHome) -> None:
    session = talk()
    data = session.data().replace(b"waits for", b"waits \xff for", 1)
    record_home.write("projects/-p/bad.jsonl", data)
    record_home.scan()

    assert record_home.raw(session.records[1]["uuid"]) == data.splitlines()[1]


def test_what_vanished_is_still_served_and_survives_further_scans(record_home: RecordHome) -> None:
    session = talk()
    path = record_home.save(session)
    record_home.scan()
    path.unlink()

    report = record_home.scan()
    record_home.scan()

    assert report.files_vanished == 1
    assert record_home.found("zigzag") == 1
    assert record_home.raw(session.records[0]["uuid"]) == json_line(session.records[0]).rstrip(b"\n")


def test_a_file_rewritten_shorter_keeps_what_it_held_before(record_home: RecordHome) -> None:
    session = talk()
    path = record_home.save(session)
    record_home.scan()
    path.write_bytes(json_line(session.records[1]))

    record_home.scan()

    assert record_home.raw(session.records[0]["uuid"]) == json_line(session.records[0]).rstrip(b"\n")
    assert record_home.raw(session.records[1]["uuid"]) == json_line(session.records[1]).rstrip(b"\n")


def test_a_file_rewritten_longer_never_serves_foreign_bytes(record_home: RecordHome) -> None:
    session = talk()
    path = record_home.save(session)
    record_home.scan()
    uid = session.records[1]["uuid"]
    exact = json_line(session.records[1]).rstrip(b"\n")
    path.write_bytes(b'{"type":"mode","mode":"' + b"x" * 300 + b'"}\n' + session.data())

    assert record_home.raw(uid) == exact
    record_home.scan()
    assert record_home.raw(uid) == exact


def test_without_a_vault_a_vanished_file_is_forgotten_with_all_that_hangs_on_it(record_home: RecordHome) -> None:
    session = talk()
    session.tool("Edit", {"file_path": "/w/a.py", "old_string": "a", "new_string": "b"}, "ok")
    path = record_home.save(session)
    record_home.scan(seal=False)
    path.unlink()

    record_home.scan(seal=False)

    for table in ("records", "passages", "passages_fts", "threads_fts", "touches", "thread_terms", "threads", "files"):
        assert record_home.rows(f"select count(*) from {table}") == [(0,)], table


def test_a_pruned_file_does_not_win_over_the_sealed_original(record_home: RecordHome) -> None:
    session = ClaudeSession("one")
    session.prompt("ein Grüßli ünd äöü")
    result = session.tool("Bash", {"command": "cat notes"}, "the wolverine naïveté " + "ü" * 50)
    path = record_home.save(session)
    record_home.scan()
    pruned = []
    for record in session.records:
        copy = json.loads(json.dumps(record))
        if copy["uuid"] == result:
            copy["message"]["content"][0]["content"] = "[pruned]"
            copy["note"] = "é" * 400  # longer than the original all the same
        pruned.append((json.dumps(copy) + "\n").encode())
    path.write_bytes(b"".join(pruned))

    record_home.scan()

    assert record_home.raw(result) == json_line(session.records[-1]).rstrip(b"\n")
    assert record_home.found("wolverine") == 1


def test_a_rebuilt_map_gives_the_same_answers_also_for_what_only_the_vault_holds(record_home: RecordHome) -> None:
    gone = record_home.save(talk("gone", "quokka"))
    kept = talk("kept")
    record_home.save(kept)
    record_home.scan()
    gone.unlink()
    record_home.scan()
    question = (
        "select hex(r.uid), r.kind, hex(t.uid), hex(s.uid) from records r"
        " join threads t on t.id=r.thread_id join sessions s on s.id=r.session_id order by 1"
    )
    before = record_home.rows(question)

    record_home.scan(rebuild=True)

    assert record_home.rows(question) == before
    assert (record_home.found("quokka"), record_home.found("zigzag")) == (1, 1)


def test_a_fork_is_stored_once_and_continues_the_conversation(record_home: RecordHome) -> None:
    first = talk()
    fork = first.fork("two")
    fork.prompt("and the marmot case")
    record_home.save(first)
    record_home.save(fork)

    record_home.scan()

    assert record_home.rows("select count(*) from records") == [(3,)]
    assert record_home.rows("select count(*) from sessions where parent_id is not null") == [(1,)]


def test_folders_of_generations_are_read_and_the_fuller_copy_is_pointed_at(
    record_home: RecordHome, tmp_path: Path
) -> None:
    session = ClaudeSession("one")
    session.prompt("look at it")
    result = session.tool("Bash", {"command": "ls"}, "the capybara listing")
    original = session.data()
    folder = tmp_path / "sealed" / "harbor" / session.id
    folder.mkdir(parents=True)
    (folder / "v0-raw.jsonl").write_bytes(original)
    record_home.write(session.relative_path(), original.replace(b"the capybara listing", b"[pruned]"))

    record_home.scan(extra=(GenerationFolder([tmp_path / "sealed"]),))

    assert b"capybara" in record_home.raw(result)
    assert record_home.found("capybara") == 1
    assert record_home.rows("select count(*) from records") == [(3,)]


def test_an_unreadable_file_is_reported_and_its_neighbours_are_read(
    record_home: RecordHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = record_home.save(talk("bad", "quokka"))
    record_home.save(talk())
    real_open = os.open

    def refuse(path: str, *rest: int, **more: int) -> int:
        if os.fspath(path) == str(broken):
            raise PermissionError(13, "Permission denied")
        return real_open(path, *rest, **more)

    monkeypatch.setattr(os, "open", refuse)
    report = record_home.scan()
    monkeypatch.undo()

    assert report.files_failed == 1
    assert [path for path, _ in report.problems] == [str(broken)]
    assert record_home.found("zigzag") == 1
    record_home.scan()
    assert record_home.found("quokka") == 1


def test_new_files_are_private(record_home: RecordHome) -> None:
    record_home.save(talk())
    record_home.scan()

    modes = {path.stat().st_mode & 0o777 for path in (record_home.folder / "fabula").rglob("*") if path.is_file()}

    assert modes == {0o600}


def test_a_map_whose_vault_was_removed_is_made_anew_and_everything_is_sealed_again(record_home: RecordHome) -> None:
    session = talk()
    path = record_home.save(session)
    record_home.scan()
    record_home.app.record.close()
    shutil.rmtree(record_home.folder / "fabula" / "vault")

    record_home.app = record_home.open()
    record_home.app.refresh()
    path.unlink()

    assert record_home.raw(session.records[0]["uuid"]) == json_line(session.records[0]).rstrip(b"\n")


def test_a_map_made_without_sealing_is_sealed_by_the_next_scan(record_home: RecordHome) -> None:
    session = talk()
    path = record_home.save(session)
    record_home.scan(seal=False)
    record_home.scan()
    path.unlink()

    assert record_home.raw(session.records[0]["uuid"]) == json_line(session.records[0]).rstrip(b"\n")


def test_a_file_that_began_with_half_a_line_is_not_taken_for_rewritten(record_home: RecordHome) -> None:
    data = talk().data()
    path = record_home.write("projects/-p/s.jsonl", data[:30])
    record_home.scan()
    path.write_bytes(data)

    record_home.scan()

    assert record_home.rows("select count(*), max(generation) from files") == [(1, -1)]
    assert record_home.found("zigzag") == 1


def test_a_line_edited_in_place_is_found_by_what_it_says_now(record_home: RecordHome) -> None:
    path = record_home.save(talk(word="papaya"))
    record_home.scan()
    path.write_bytes(path.read_bytes().replace(b"papaya", b"kiwiii"))

    record_home.scan()

    assert record_home.found("kiwiii") == 1


def test_what_a_lost_journal_forgot_is_sealed_again_by_the_repair(record_home: RecordHome) -> None:
    session = talk()
    path = record_home.save(session)
    record_home.scan()
    record_home.app.record.close()
    journal = record_home.folder / "fabula" / "vault" / "journal.db"
    with journal.open("r+b") as stream:
        stream.write(os.urandom(200))

    record_home.app = record_home.open()
    assert verify(record_home.app, VerifyRequest(repair=True)).sound
    path.unlink()

    assert record_home.raw(session.records[0]["uuid"]) == json_line(session.records[0]).rstrip(b"\n")


def test_with_a_damaged_vault_reads_still_answer_from_the_sources_and_say_so(record_home: RecordHome) -> None:
    session = talk()
    path = record_home.save(session)
    record_home.scan()
    record_home.app.record.close()
    journal = record_home.folder / "fabula" / "vault" / "journal.db"
    with journal.open("r+b") as stream:
        stream.write(os.urandom(200))
    session.reply("more")
    record_home.save(session)

    record_home.app = record_home.open()
    fresh = record_home.app.refresh()

    assert (fresh.fresh, "journal.db" in fresh.note) == (False, True)
    assert record_home.found("zigzag") == 1
    assert record_home.raw(session.records[0]["uuid"]) == json_line(session.records[0]).rstrip(b"\n")
    assert path.exists()
