"""What only the vault still holds is in the map, however the map came to lack it."""

from __future__ import annotations

import json
import os

import pytest

from fabula.app.record.prune import PruneRequest, prune
from fabula.app.record.title import TitleRequest, title
from fabula.record.map.store import open_map
from fabula.testing.record_home import RecordHome
from fabula.testing.transcripts import ClaudeSession


def said(seed: str, word: str) -> ClaudeSession:
    session = ClaudeSession(seed)
    session.prompt(f"where is the {word}?")
    return session


def test_a_map_made_anew_bit_by_bit_ends_with_what_only_the_vault_holds(record_home: RecordHome) -> None:
    gone = record_home.save(said("one", "tapir"))
    record_home.save(said("two", "okapi"))
    last = said("three", "ibex")
    record_home.save(last)
    record_home.scan()
    title(record_home.app, TitleRequest(last.id, "narwhal days"))
    gone.unlink()
    record_home.scan()
    forget_the_map(record_home)
    record_home.app = reopened = record_home.open()

    while not reopened.record.scan(byte_budget=1).complete:
        pass

    assert [record_home.found(word) for word in ("tapir", "okapi", "ibex")] == [1, 1, 1]
    assert record_home.rows("select count(*) from titles_fts where titles_fts match 'narwhal'") == [(1,)]


@pytest.mark.parametrize("budget", [1, None])
def test_originals_of_a_slimmed_file_are_mapped_whatever_the_budget(
    record_home: RecordHome, budget: int | None
) -> None:
    session = said("one", "tapir")
    session.tool("Bash", {"command": "ls"}, "okapi " * 200)
    path = record_home.save(session)
    os.utime(path, (1_770_000_000, 1_770_000_000))
    prune(record_home.app, PruneRequest(session.id, apply=True))
    (before,) = record_home.rows("select value from meta where key = 'searchable_characters'")
    forget_the_map(record_home)
    record_home.app = reopened = record_home.open()
    first = reopened.record.scan(byte_budget=budget)
    assert first.bytes_read > path.stat().st_size or budget  # nobody who searches waits for what was slimmed
    while not first.complete:
        first = reopened.record.scan(byte_budget=budget)
    for record in session.records:
        assert json.loads(record_home.raw(record["uuid"])) == record
    assert record_home.found("okapi") >= 1
    if budget is None:
        assert record_home.rows("select value from meta where key = 'searchable_characters'") == [before]


def test_a_file_that_was_sealed_and_vanished_before_a_scan_is_mapped_by_the_next(record_home: RecordHome) -> None:
    record_home.save(said("one", "tapir"))
    record_home.scan()
    gone = record_home.save(said("two", "okapi"))
    record_home.app.record.seal()
    gone.unlink()
    record_home.save(said("three", "ibex"))
    record_home.scan()
    assert record_home.found("okapi") == 1


def forget_the_map(home: RecordHome) -> None:
    home.app.record.close()
    for path in (home.folder / "fabula").glob("map.db*"):
        path.unlink()


@pytest.mark.parametrize("seal_alone", [False, True])
def test_a_file_written_whole_is_kept_anew_when_only_its_middle_changed(
    record_home: RecordHome, *, seal_alone: bool
) -> None:
    session = said("one", "tapir")
    record_home.save(session)
    place = f"{session.relative_path().removesuffix('.jsonl')}/tool-results/long.txt"
    path = record_home.write(place, b"a" * 9_000 + b"first" + b"b" * 9_000)
    record_home.scan()
    changed = b"a" * 9_000 + b"other" + b"b" * 9_000
    path.write_bytes(changed)
    if seal_alone:
        record_home.app.record.seal()
    record_home.scan()
    vault = record_home.open().vault()
    assert vault is not None
    (entry,) = [one for one in vault.sources() if one.path == str(path)]
    assert [b"".join(vault.stream(one.id))[9_000:9_005] for one in entry.generations] == [b"first", b"other"]
    path.touch()
    assert record_home.scan().files_read == 0


def test_the_newest_title_and_branch_stay_when_the_map_is_made_anew(record_home: RecordHome) -> None:
    for word, branch in (("older", "first"), ("newer", "second")):
        session = ClaudeSession("one", branch=branch)
        session.prompt(f"the {word} question")
        session.title(f"the {word} title", custom=True)
        record_home.save(session)
        record_home.scan()
    told = "select title, branch from sessions"
    assert record_home.rows(told) == [("the newer title", "second")]
    record_home.scan(rebuild=True)
    record_home.app = record_home.open()
    assert record_home.rows(told) == [("the newer title", "second")]
    assert record_home.rows("select count(*) from files") == [(2,)]


def test_what_is_sealed_by_itself_is_mapped_after_scans_that_found_nothing_missing(record_home: RecordHome) -> None:
    first, second = ClaudeSession("one"), ClaudeSession("two")
    first.prompt("the first pelican")
    record_home.save(first)
    record_home.scan()
    first.reply("it flew")
    record_home.save(first)
    record_home.scan()
    assert record_home.rows("select count(*) from meta where key = 'all_mapped'") == [(1,)]
    second.prompt("the second walrus")
    path = record_home.save(second)
    record_home.app.record.seal()
    path.unlink()
    record_home.scan()
    assert (record_home.found("pelican"), record_home.found("walrus")) == (1, 1)
    first.reply("it landed")
    record_home.save(first)
    assert record_home.scan().files_read == 1


def test_a_file_row_that_is_lost_from_the_map_is_mapped_again(record_home: RecordHome) -> None:
    session = ClaudeSession("one")
    session.prompt("the first pelican")
    path = record_home.save(session)
    record_home.scan()
    record_home.scan()
    path.unlink()
    record_home.scan()
    writer = open_map(record_home.app.home.map)
    with writer:
        writer.execute("delete from file_rows")
    writer.close()
    other = ClaudeSession("two")
    other.prompt("the second walrus")
    record_home.save(other)
    record_home.scan()
    assert record_home.rows("select count(*) from files where path = ?", str(path)) == [(1,)]


def test_no_record_is_from_before_the_epoch_when_every_file_is_gone(record_home: RecordHome) -> None:
    session = said("one", "tapir")
    paths = [record_home.save(session)]
    folder = session.relative_path().removesuffix(".jsonl")
    paths.append(record_home.write(f"{folder}/tool-results/long.txt", b"the okapi stood\n" * 90))
    record_home.scan()
    for path in paths:
        path.unlink()
    forget_the_map(record_home)
    record_home.app = record_home.open()
    record_home.scan()
    assert record_home.found("okapi") == 1
    assert record_home.rows("select count(*) from records where time < 0") == [(0,)]
