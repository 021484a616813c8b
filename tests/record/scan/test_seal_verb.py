"""Sealing without mapping."""

from __future__ import annotations

from fabula.app.record.seal import SealRequest, seal
from fabula.testing.record_home import RecordHome
from fabula.testing.transcripts import ClaudeSession


def talk() -> ClaudeSession:
    session = ClaudeSession("one")
    session.prompt("where is the zigzag")
    session.reply("in the harbour")
    return session


def test_everything_is_sealed_once_and_later_only_what_grew(record_home: RecordHome) -> None:
    session = talk()
    path = record_home.save(session)
    first = seal(record_home.app, SealRequest())
    session.reply("more")
    record_home.save(session)
    second = seal(record_home.app, SealRequest())
    third = seal(record_home.app, SealRequest())

    assert (first.files_sealed, second.files_sealed, third.files_sealed) == (1, 1, 0)
    assert first.bytes_sealed + second.bytes_sealed == path.stat().st_size
    assert third.vault.generations == 1


def test_a_scan_after_sealing_maps_everything_and_seals_nothing_twice(record_home: RecordHome) -> None:
    record_home.save(talk())
    seal(record_home.app, SealRequest())
    before = seal(record_home.app, SealRequest()).vault

    record_home.scan()

    assert record_home.found("zigzag") == 1
    after = seal(record_home.app, SealRequest()).vault
    assert (after.generations, after.records, after.sealed_bytes) == (
        before.generations,
        before.records,
        before.sealed_bytes,
    )


def test_what_was_sealed_and_then_vanished_is_mapped_by_a_scan(record_home: RecordHome) -> None:
    path = record_home.save(talk())
    seal(record_home.app, SealRequest())
    path.unlink()

    record_home.scan()

    assert record_home.found("zigzag") == 1


def test_a_rewritten_file_becomes_a_new_generation_and_the_scan_that_follows_agrees(record_home: RecordHome) -> None:
    session = talk()
    path = record_home.save(session)
    record_home.scan()
    path.write_bytes(session.data().replace(b"harbour", b"quiet blue lagoon"))
    assert seal(record_home.app, SealRequest()).vault.generations == 2

    record_home.scan()

    assert seal(record_home.app, SealRequest()).vault.generations == 2
    assert record_home.found("lagoon") == 1
