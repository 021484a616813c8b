"""``fabula purge``: all of Fabula's data, none of anybody else's."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import pytest

from fabula.app import purge as verb
from fabula.app.purge import PurgeRequest, purge
from fabula.kernel.errors import FabulaError
from fabula.storage.locks import FileLock
from fabula.testing.record_home import RecordHome
from fabula.testing.terminal import on_terminal
from fabula.testing.transcripts import ClaudeSession

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def home(tmp_path: Path) -> RecordHome:
    """A home with one session in its record."""
    home = RecordHome(tmp_path)
    session = ClaudeSession("one")
    session.prompt("What is in the vault?")
    home.save(session)
    home.scan()
    home.app.record.close()
    return home


@pytest.fixture
def agreed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A person agrees to whatever is asked."""
    monkeypatch.setattr(verb, "require_consent", lambda *_: None)


def names(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def test_a_preview_changes_nothing(home: RecordHome) -> None:
    root = home.app.home.root
    before = names(root)
    result = purge(home.app, PurgeRequest())
    assert not result.applied
    assert {kind.what for kind in result.kinds} == {"map", "locks", "journal of the vault", "packs of the vault"}
    assert result.bytes == sum((root / name).stat().st_size for name in before)
    assert names(root) == before


@pytest.mark.usefixtures("agreed")
def test_everything_of_fabula_goes_and_nothing_else(home: RecordHome) -> None:
    root = home.app.home.root
    (root / "scratch" / "notes").mkdir(parents=True, exist_ok=True)
    for name in ("thesis.txt", "vault/photo.jpg", "scratch/notes/todo.md", "map.db.bak", "vault/packs/records-1.pack"):
        (root / name).write_text("mine", encoding="utf-8")
    (root / "config.toml").write_text("[tool]\nname = 'of another program'\n", encoding="utf-8")
    (root / "link").symlink_to(home.claude)
    transcripts = names(home.claude)
    result = purge(home.app, PurgeRequest(apply=True))
    kept = ["config.toml", "map.db.bak", "scratch/notes/todo.md", "thesis.txt", "vault/packs/records-1.pack",
            "vault/photo.jpg"]  # fmt: skip
    assert names(root) == kept
    assert (root / "link").is_symlink()
    assert sorted(result.staying) == sorted(str(root / name) for name in [*kept, "link"])
    assert names(home.claude) == transcripts


@pytest.mark.usefixtures("agreed")
def test_an_empty_home_goes_too_and_can_be_begun_again(home: RecordHome) -> None:
    purge(home.app, PurgeRequest(apply=True))
    assert not home.app.home.root.exists()
    home.app = home.open()
    assert home.scan().records_added == 1


@pytest.mark.usefixtures("agreed")
@pytest.mark.parametrize("kind", ["strangers", "user home", "link"])
def test_a_folder_that_is_not_fabulas_is_refused(home: RecordHome, tmp_path: Path, kind: str) -> None:
    if kind == "strangers":
        other = tmp_path / "project"
        (other / "vault").mkdir(parents=True)
        for name in ("config.toml", "writer.lock", "map.db", "vault/journal.db"):
            (other / name).write_text("not Fabula's", encoding="utf-8")
        home.app.home = type(home.app.home)(other)
    elif kind == "user home":
        home.app.user_home = home.app.home.root / "deeper"
    else:
        (tmp_path / "link").symlink_to(home.app.home.root)
        home.app.home = type(home.app.home)(tmp_path / "link")
    root = home.app.home.root
    before = names(root)
    with pytest.raises(FabulaError) as caught:
        purge(home.app, PurgeRequest(apply=True))
    assert caught.value.code == "ERR_PATH"
    assert names(root) == before


@pytest.mark.usefixtures("agreed")
def test_nothing_goes_while_another_process_writes(home: RecordHome, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verb, "SCAN_WAIT_SECONDS", 0.05)
    before = names(home.app.home.root)
    with FileLock(home.app.home.lock), pytest.raises(FabulaError) as caught:
        purge(home.app, PurgeRequest(apply=True))
    assert caught.value.code == "ERR_LOCKED"
    assert names(home.app.home.root) == before


def test_without_a_home_there_is_nothing_to_purge(tmp_path: Path) -> None:
    with pytest.raises(FabulaError) as caught:
        purge(RecordHome(tmp_path).app, PurgeRequest())
    assert caught.value.code == "ERR_NO_RECORD"


@pytest.mark.parametrize(("answer", "status"), [("purge", 0), ("yes", 3)])
def test_a_person_types_the_word(home: RecordHome, answer: str, status: int) -> None:
    environment = {**os.environ, **home.app.environment}
    done = on_terminal([sys.executable, "-m", "fabula", "purge", "--apply"], environment, answer)
    assert done.status == status, done
    assert "packs of the vault" in done.terminal
    assert home.app.home.root.exists() == (status != 0)
