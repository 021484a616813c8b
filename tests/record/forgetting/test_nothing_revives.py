"""What was forgotten stays so, whatever the host does with its own files that still hold it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from forgetting_builders import CANARIES, Planted, needles

from fabula.record.vault.vault import Vault
from fabula.testing.prober import found_in
from fabula.testing.transcripts import json_line

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def planted(tmp_path: Path) -> Planted:
    """A record of which one session was forgotten; the host's files are still there."""
    planted = Planted(tmp_path)
    planted.forget(planted.doomed.id)
    planted.reopen()
    return planted


def assert_gone(planted: Planted, *, but: str = "") -> None:
    """Scan, and find nothing (but what a needle ``but`` holds); the vault is sound."""
    planted.home.scan()
    assert found_in(planted.root, [needle for needle in needles() if not but or needle not in but]) == []
    with Vault.open(planted.root / "vault", planted.home.clock, read_only=True) as vault:
        assert list(vault.verify()) == []


def reserialised(data: bytes, **changes: Any) -> bytes:
    """Return a transcript as a pruner writes it that encodes every line anew, in ASCII and with blanks."""
    lines = []
    for line in data.splitlines():
        try:
            value = json.loads(line)
        except ValueError:
            continue
        lines.append(json.dumps({**value, **{key: new for key, new in changes.items() if key in value}}))
    return "\n".join(lines).encode() + b"\n"


def test_when_the_file_is_read_again(planted: Planted) -> None:
    planted.transcript.touch()
    assert_gone(planted)


def test_when_the_map_is_made_anew(planted: Planted) -> None:
    planted.home.scan(rebuild=True)
    assert_gone(planted)


def test_when_everything_is_sealed_without_being_mapped(planted: Planted) -> None:
    planted.transcript.write_bytes(reserialised(planted.transcript.read_bytes()))
    planted.home.app.record.seal()
    assert_gone(planted)


def test_when_a_pruner_writes_every_line_in_other_bytes(planted: Planted) -> None:
    planted.transcript.write_bytes(reserialised(planted.transcript.read_bytes()))
    assert_gone(planted)


def test_when_the_file_is_moved_to_another_project(planted: Planted) -> None:
    other = planted.transcript.parent.parent / "-home-mira-code-elsewhere" / planted.transcript.name
    other.parent.mkdir()
    planted.transcript.rename(other)
    assert_gone(planted)


def test_when_the_session_is_forked(planted: Planted) -> None:
    planted.home.save(planted.doomed.fork("fork"))
    assert_gone(planted)


def test_when_a_fork_is_written_in_other_bytes(planted: Planted) -> None:
    fork = planted.doomed.fork("fork")
    path = planted.home.save(fork)
    path.write_bytes(reserialised(path.read_bytes()))
    assert_gone(planted)


def test_when_a_copy_gets_new_ids(planted: Planted) -> None:
    copy = [{**record, "uuid": f"copy-{at}", "parentUuid": None, "sessionId": "a-new-session", "promptId": "p"}
            if "uuid" in record else {**record, "sessionId": "a-new-session"}
            for at, record in enumerate(planted.doomed.records)]  # fmt: skip
    planted.home.write("projects/-home-mira-code-harbor/a-new-session.jsonl", b"".join(map(json_line, copy)))
    assert_gone(planted)


def test_when_side_files_come_up_in_another_session(planted: Planted) -> None:
    planted.home.write("file-history/another/feedc0ffee@v1", CANARIES["backup"].encode() * 3)
    assert_gone(planted)


def test_when_the_unfinished_line_is_finished(planted: Planted) -> None:
    planted.transcript.write_bytes(planted.transcript.read_bytes() + b'"}}\n')
    assert_gone(planted)


def test_when_the_journal_is_repaired(planted: Planted) -> None:
    Vault.repair(planted.root / "vault", planted.home.clock)
    assert_gone(planted)


def test_when_the_journal_is_lost_and_repaired(planted: Planted) -> None:
    planted.home.app.record.close()
    for name in ("journal.db", "journal.db-wal", "journal.db-shm"):
        (planted.root / "vault" / name).unlink(missing_ok=True)
    Vault.repair(planted.root / "vault", planted.home.clock)
    planted.reopen()
    assert_gone(planted)


def test_what_the_session_says_afterwards_is_taken_in(planted: Planted) -> None:
    session = planted.doomed
    session.prompt("A new question that was never asked before in here")
    new = b"".join(map(json_line, session.records[-1:]))
    planted.transcript.write_bytes(planted.transcript.read_bytes() + b'"}}\n' + new)
    assert_gone(planted)
    rows = planted.home.app.loader().rows("session_id=(select id from sessions where hex(uid)=?)",
                                          (session.id.replace("-", "").upper(),))  # fmt: skip
    assert [planted.home.app.loader().raw(row)[0] + b"\n" for row in rows] == [new]


def test_the_same_words_in_another_record_are_another_record(planted: Planted) -> None:
    planted.staying.prompt(CANARIES["prompt"])
    planted.home.save(planted.staying)
    planted.home.scan()
    assert found_in(planted.root, ["zyxquorvane"])
