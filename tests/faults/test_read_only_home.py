"""A record that cannot be written: reads still answer, from what was sealed, and say that they are not fresh."""

from __future__ import annotations

from pathlib import Path

import pytest
from command import User


def freeze(folder: Path) -> None:
    for path in sorted(folder.rglob("*"), reverse=True):
        path.chmod(0o500 if path.is_dir() else 0o400)
    folder.chmod(0o500)


def thaw(folder: Path) -> None:
    folder.chmod(0o700)
    for path in sorted(folder.rglob("*")):
        path.chmod(0o700 if path.is_dir() else 0o600)


@pytest.fixture
def user(tmp_path: Path) -> User:
    user = User.with_samples(tmp_path)
    assert user.run("record", "scan").status == 0
    return user


def test_a_read_only_record_answers_and_says_that_it_is_not_fresh(user: User) -> None:
    before = user.run("record", "sessions", "--all").data
    transcript = max((user.home / ".claude" / "projects").rglob("*.jsonl"), key=lambda path: path.stat().st_size)
    transcript.unlink()
    freeze(user.record)
    try:
        asked = user.run("record", "sessions", "--all", bound=True)
        block = user.run("record", "thread", transcript.stem, bound=True)
    finally:
        thaw(user.record)
    assert asked.status == 0
    assert [one["id"] for one in asked.data["sessions"]] == [one["id"] for one in before["sessions"]]
    assert asked.data["fresh"]["fresh"] is False
    assert "denied" in asked.data["fresh"]["note"].lower() or "read-only" in asked.data["fresh"]["note"].lower()
    assert block.status in {0, 1, 2}


@pytest.mark.parametrize("verb", ["scan", "rebuild"])
def test_what_must_write_says_what_is_read_only_and_works_once_it_is_not(user: User, verb: str) -> None:
    freeze(user.record)
    try:
        refused = user.run("record", verb, bound=True)
    finally:
        thaw(user.record)
    assert (refused.status, refused.code) == (1, "ERR_READ_ONLY")
    assert str(user.record) in refused.out
    assert user.run("record", verb).status == 0


def test_a_folder_of_transcripts_that_cannot_be_read_is_reported_and_costs_no_other(user: User) -> None:
    folder = next((user.home / ".claude" / "projects").iterdir())
    known = {file["path"] for file in user.run("record", "scan").data["files"]}
    folder.chmod(0)
    try:
        scanned = user.run("record", "scan", "--full", bound=True)
    finally:
        folder.chmod(0o700)
    assert scanned.status == 0
    assert any(problem["path"].startswith(str(folder)) for problem in scanned.data["problems"])
    assert known <= {file["path"] for file in scanned.data["files"]}
