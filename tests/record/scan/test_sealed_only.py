"""What only the vault still holds is in the map, however the map came to lack it."""

from __future__ import annotations

from fabula.app.record.title import TitleRequest, title
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
