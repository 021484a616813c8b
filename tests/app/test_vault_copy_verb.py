"""``vault copy``: what a person sees of it, and what becomes of the copy."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import pytest

from fabula.record.vault.erasing import Erasure, erase
from fabula.record.vault.vault import Vault
from fabula.testing.outcome import Outcome
from fabula.testing.transcripts import ClaudeSession

CANARY = "zanzibarine quokka lanterns"
Fabula = Callable[..., Outcome]


class Clock:
    def now_ms(self) -> int:
        return 1_700_000_000_000


@pytest.fixture
def home(tmp_path: Path, fabula: Fabula, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with one session sealed, whose transcript is gone."""
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "home" / ".claude"))
    session = ClaudeSession("kept")
    session.prompt(CANARY)
    session.prompt("What else is there?")
    (tmp_path / "home" / ".claude").mkdir(parents=True)
    path = session.save(tmp_path / "home" / ".claude")
    assert fabula("record", "scan").status == 0
    path.unlink()
    return tmp_path / "fabula-home"


def holds(folder: Path, text: str) -> bool:
    """Say whether a vault holds a text in any record."""
    with Vault.open(folder, Clock(), read_only=True) as vault:
        return any(text.encode() in b"".join(vault.stream(g)) for g in vault.generation_ids())


def forget(home: Path, text: str) -> None:
    with Vault.open(home / "vault", Clock()) as vault:
        erasure = Erasure()
        for number in vault.generation_ids():
            data = b"".join(vault.stream(number))
            offset = 0
            for line in data.splitlines(keepends=True):
                if text.encode() in line:
                    span = (offset, len(line.rstrip(b"\n")))
                    erasure.pieces.setdefault(number, []).append(span)
                    erasure.marks.add(("bytes", sha256(line.rstrip(b"\n")).digest()))
                offset += len(line)
        assert erasure
        erase(vault.folder, vault.journal, erasure, 1)


def test_a_copy_is_made_checked_and_made_a_home_by_what_it_says(
    fabula: Fabula, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = tmp_path / "back up"
    done = fabula("vault", "copy", str(copy))
    assert done.status == 0
    assert "read back and right" in done.out
    answer = json.loads(fabula("vault", "copy", str(copy), "--json").out)["data"]
    assert (answer["copied"]["bytes_copied"], answer["copied"]["first"]) == (0, False)
    assert answer["use"] == [f"FABULA_HOME='{copy}' fabula record verify", f"rm '{copy}/fabula-copy.json'"]
    monkeypatch.setenv("FABULA_HOME", str(copy))
    assert fabula("record", "verify").out.startswith("sound")
    refused = json.loads(fabula("record", "search", "lanterns", "--all", "--json").out)
    assert refused["code"] == "ERR_READ_ONLY"
    assert refused["suggestions"][0].startswith(f"rm '{copy}/fabula-copy.json'")
    (copy / "fabula-copy.json").unlink()
    assert "lanterns" in fabula("record", "search", "lanterns", "--all").out
    monkeypatch.setenv("FABULA_HOME", str(home))
    assert json.loads(fabula("vault", "copy", str(copy), "--json").out)["code"] == "ERR_NOT_A_COPY"


def test_what_is_forgotten_is_erased_from_the_copy_by_the_next_copy(fabula: Fabula, home: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    fabula("vault", "copy", str(copy))
    forget(home, CANARY)
    assert not holds_anything(home / "vault", CANARY)
    assert holds(copy / "vault", CANARY)
    done = fabula("vault", "copy", str(copy))
    assert "erased there as well" in done.out
    assert "1 new mark of what was forgotten" in done.out
    assert not holds_anything(copy / "vault", CANARY)
    with Vault.open(copy / "vault", Clock(), read_only=True) as vault:
        assert list(vault.verify()) == []


def holds_anything(folder: Path, text: str) -> bool:
    """Say whether any file of a vault holds a text, in whatever frame or table."""
    from fabula.storage.packs import PackReader

    for path in folder.rglob("*"):
        if path.is_file() and text.encode() in path.read_bytes():
            return True
        if path.suffix == ".pack":
            pack = PackReader(path)
            frames = [part for part in pack.walk(pack.size()) if not isinstance(part, str)]
            pack.close()
            if any(text.encode() in frame.content for frame in frames):
                return True
    return False


def test_an_erasure_that_was_interrupted_is_finished_before_the_copy(
    fabula: Fabula, home: Path, tmp_path: Path
) -> None:
    from fabula.record.vault import erasing

    finish = erasing.finish
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(erasing, "finish", lambda *_: None)
        forget(home, CANARY)
    assert erasing.finish is finish
    assert holds_anything(home / "vault", CANARY)
    assert fabula("vault", "copy", str(tmp_path / "copy")).status == 0
    assert not holds_anything(tmp_path / "copy" / "vault", CANARY)


def test_a_home_without_its_journal_is_whole_again_after_repair(fabula: Fabula, home: Path) -> None:
    for path in (home / "vault").glob("journal.db*"):
        path.unlink()
    repaired = fabula("record", "verify", "--repair")
    assert repaired.status == 0
    assert "its copy gives back all that was committed" in repaired.out
    assert "lanterns" in fabula("record", "search", "lanterns", "--all").out
    shutil.rmtree(home / "vault" / "packs")
    assert fabula("record", "verify").status == 1


def test_the_doctor_of_a_copy_names_no_remedy_that_a_copy_refuses(
    fabula: Fabula, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fabula("vault", "copy", str(tmp_path / "copy"))
    monkeypatch.setenv("FABULA_HOME", str(tmp_path / "copy"))
    found = {check["name"]: check for check in fabula("doctor", "--json").data["checks"]}
    assert {check["state"] for check in found.values()} == {"good"}
    assert "only copying writes to it" in found["copy"]["message"]


@pytest.mark.parametrize(
    "words",
    [
        ("vault", "gc"),
        ("vault", "copy", "copy"),
        ("record", "verify"),
        ("record", "restore", "x"),
        ("record", "forget", "--pattern", "lanterns"),
        ("record", "scan"),
    ],
)
def test_without_its_journal_every_verb_of_the_vault_names_the_repair(
    fabula: Fabula, home: Path, words: tuple[str, ...]
) -> None:
    for path in (home / "vault").glob("journal.db*"):
        path.unlink()
    refused = json.loads(fabula(*words, "--json").out)
    assert (refused["code"], refused["suggestions"]) == ("ERR_VAULT_DAMAGED", ["fabula record verify --repair"])


def test_without_a_vault_there_is_nothing_to_copy(fabula: Fabula, tmp_path: Path) -> None:
    assert json.loads(fabula("vault", "copy", str(tmp_path / "copy"), "--json").out)["code"] == "ERR_NO_RECORD"
    assert not (tmp_path / "copy").exists()
