"""A process that looks again at its sources: it compares only what may have changed, and misses nothing."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from fabula.record.scan import finding
from fabula.testing.record_home import RecordHome
from fabula.testing.transcripts import ClaudeSession


def backup(home: RecordHome, name: str, data: bytes = b"text", age: int = 60) -> Path:
    path = home.write(f"file-history/S1/{name}", data)
    aged(path, age)
    aged(path.parent, age)
    return path


def aged(path: Path, seconds: int) -> None:
    moment = time.time() - seconds
    os.utime(path, (moment, moment))


@pytest.fixture
def home(record_home: RecordHome) -> RecordHome:
    session = ClaudeSession("one")
    session.prompt("where does the zigzag parser wait")
    aged(record_home.save(session), 60)
    backup(record_home, "aa@v1")
    backup(record_home, "bb@v1")
    record_home.app.refresh()
    assert record_home.app.refresh().fresh  # the first look of which something is remembered
    return record_home


@pytest.fixture
def compared(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    paths: list[str] = []
    compare = finding.compare

    def noted(file, known):  # type: ignore[no-untyped-def]
        paths.append(os.path.basename(file.path))
        return compare(file, known)

    monkeypatch.setattr(finding, "compare", noted)
    return paths


def paths(home: RecordHome) -> list[str]:
    home.app.refresh()
    rows = home.rows("select path from files where vanished_at is null and kind = 'file-backup' order by path")
    return [os.path.basename(path) for (path,) in rows]


def test_backups_in_a_folder_that_is_as_it_was_are_not_compared_again(home: RecordHome, compared: list[str]) -> None:
    assert home.app.refresh().fresh
    assert [name for name in compared if "@" in name] == []
    assert [name for name in compared if name.endswith(".jsonl")], "transcripts grow without a word from their folder"


def test_a_backup_that_is_added_is_taken_in(home: RecordHome) -> None:
    backup(home, "cc@v1", age=30)
    assert paths(home) == ["aa@v1", "bb@v1", "cc@v1"]
    backup(home, "dd@v1", age=20)
    assert paths(home) == ["aa@v1", "bb@v1", "cc@v1", "dd@v1"]


def test_a_backup_that_goes_is_noted_and_one_that_comes_back_too(home: RecordHome) -> None:
    path = home.claude / "file-history" / "S1" / "aa@v1"
    path.unlink()
    aged(path.parent, 30)
    assert paths(home) == ["bb@v1"]
    backup(home, "aa@v1", age=20)
    assert paths(home) == ["aa@v1", "bb@v1"]


def test_a_folder_that_goes_takes_its_backups_along(home: RecordHome) -> None:
    folder = home.claude / "file-history" / "S1"
    folder.rename(home.folder / "elsewhere")
    assert paths(home) == []
    (home.folder / "elsewhere").rename(folder)
    assert paths(home) == ["aa@v1", "bb@v1"]


def test_what_another_process_took_in_is_compared_anew(home: RecordHome, compared: list[str]) -> None:
    backup(home, "cc@v1", age=30)
    assert home.open().record.scan().files_read == 1
    assert home.app.refresh().fresh
    assert "aa@v1" in compared
    assert paths(home) == ["aa@v1", "bb@v1", "cc@v1"]


def test_a_map_that_was_deleted_is_filled_again_from_all_files(home: RecordHome) -> None:
    home.app.home.map.unlink()
    assert paths(home) == ["aa@v1", "bb@v1"]
    assert home.rows("select count(*) from records")[0][0] >= 1


def test_a_transcript_that_grows_between_looks_is_read_while_settled_folders_rest(
    home: RecordHome, compared: list[str]
) -> None:
    session = ClaudeSession("one")
    session.prompt("where does the zigzag parser wait")
    session.reply("at the quokka lock")
    home.save(session)
    assert home.app.refresh().read_files == 1
    assert home.found("quokka") == 1
    assert [name for name in compared if "@" in name] == []
