"""``record verify`` and ``record restore``."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from fabula.app.record.restore import RestoreRequest, restore
from fabula.record.vault.vault import Vault
from fabula.testing.outcome import Outcome
from fabula.testing.record_home import RecordHome
from fabula.testing.transcripts import ClaudeSession

OLD, NEW, CHILD = b'{"a":1}\n', b'{"a":2}\n{"torn', b'{"child":1}\n'


class Clock:
    def now_ms(self) -> int:
        return 1_700_000_000_000


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home whose vault holds two generations of a session, and a file of a subagent."""
    with Vault.open(tmp_path / "fabula-home" / "vault", Clock()) as vault:
        main = vault.source("host", "/logs/abcd-1.jsonl", "session", "abcd-1")
        first = vault.begin(main.id, provenance="original", immutable=False)
        vault.append(first.id, 0, OLD, [(0, 7)])
        second = vault.begin(main.id, provenance="rewritten", immutable=False)
        vault.append(second.id, 0, NEW[:8], [(0, 7)])
        vault.set_tail(second.id, NEW[8:])
        child = vault.source("host", "/logs/sub/agent.jsonl", "subagent", "abcd-1")
        vault.append(vault.begin(child.id, provenance="original", immutable=False).id, 0, CHILD, [(0, 11)])
        unnamed = vault.source("host", "/logs/chat.json", "session", "")
        vault.append(vault.begin(unnamed.id, provenance="original", immutable=False).id, 0, OLD, [(0, 7)])
        vault.commit()
    return tmp_path / "fabula-home"


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize("target", ["abcd-1", "abcd", "/logs/abcd-1.jsonl"])
def test_the_newest_generation_goes_to_standard_output(fabula: Callable[..., Outcome], target: str) -> None:
    done = fabula("record", "restore", target)
    assert (done.status, done.out.encode()) == (0, NEW)


@pytest.mark.usefixtures("home")
def test_any_generation_goes_to_a_file_and_the_others_are_named(fabula: Callable[..., Outcome], tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    done = fabula("record", "restore", "abcd-1", "--generation", "0", "--output", str(out))
    assert done.status == 0
    assert "other generations: 1" in done.out
    assert out.read_bytes() == OLD
    again = fabula("record", "restore", "abcd-1", "--output", str(out), "--json")
    assert json.loads(again.out)["code"] == "ERR_PATH"
    assert out.read_bytes() == OLD


@pytest.mark.usefixtures("home")
def test_as_data_the_generations_are_listed(fabula: Callable[..., Outcome]) -> None:
    data = json.loads(fabula("record", "restore", "abcd-1", "--json").out)["data"]
    assert [(g["number"], g["provenance"], g["size"]) for g in data["generations"]] == [
        (0, "original", 8),
        (1, "rewritten", len(NEW)),
    ]
    assert (data["generation"], data["output"]) == (1, None)


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["nothing"], "ERR_NOT_FOUND"),
        ([""], "ERR_NOT_FOUND"),
        (["abcd-1", "--generation", "9"], "ERR_NOT_FOUND"),
        (["abcd-1", "--output", "no/such/folder/file"], "ERR_PATH"),
    ],
)
def test_what_cannot_be_restored_is_said(fabula: Callable[..., Outcome], words: list[str], code: str) -> None:
    assert json.loads(fabula("record", "restore", *words, "--json").out)["code"] == code


def test_a_session_whose_id_stands_only_in_its_file_is_restored(tmp_path: Path) -> None:
    home = RecordHome(tmp_path)
    session = ClaudeSession("inside")
    session.prompt("Where is my id?")
    path = home.save(session)
    renamed = path.rename(path.with_name("copy-of-mine.jsonl"))
    home.app.refresh()
    assert restore(home.app, RestoreRequest(session.id)).path == str(renamed)


def test_files_of_one_session_that_cannot_be_told_apart_are_named(fabula: Callable[..., Outcome], home: Path) -> None:
    with Vault.open(home / "vault", Clock()) as vault:
        for name in ("x", "y"):
            source = vault.source("host", f"/logs/{name} z.jsonl", "session", "twice")
            vault.append(vault.begin(source.id, provenance="original", immutable=False).id, 0, OLD, [])
        vault.commit()
    answer = json.loads(fabula("record", "restore", "twice", "--json").out)
    assert answer["code"] == "ERR_AMBIGUOUS"
    assert answer["suggestions"] == [f"fabula record restore '/logs/{name} z.jsonl'" for name in ("x", "y")]


@pytest.mark.usefixtures("home")
def test_a_sound_vault_is_called_sound(fabula: Callable[..., Outcome]) -> None:
    done = fabula("record", "verify")
    assert done.status == 0
    assert done.out.startswith("sound: 3 records")
    assert json.loads(fabula("record", "verify", "--json").out)["data"]["damages"] == []


def test_damage_is_named_and_the_command_it_names_clears_it(fabula: Callable[..., Outcome], home: Path) -> None:
    with Vault.open(home / "vault", Clock()) as vault:
        live = home / "live.jsonl"
        live.write_bytes(OLD.replace(b"1", b"17"))
        source = vault.source("host", str(live), "session", "live")
        generation = vault.begin(source.id, provenance="original", immutable=False)
        vault.append(generation.id, 0, live.read_bytes(), [(0, 8)])
        vault.commit()
        vault.journal.change("update loose set data=? where data=?", [(b'{"a":99}', b'{"a":17}')])
    done = fabula("record", "verify")
    assert done.status == 1
    assert f"hits {live} (generation 0) bytes 0+8" in done.out
    assert "fabula record verify --repair" in done.out
    assert json.loads(fabula("record", "verify", "--json").out)["data"]["sound"] is False
    repaired = fabula("record", "verify", "--repair")
    assert repaired.status == 0, repaired.out
    assert "1 sealed again from their sources, 0 lost" in repaired.out


def test_without_a_vault_there_is_nothing_to_verify_or_restore(fabula: Callable[..., Outcome]) -> None:
    for words in (("verify",), ("verify", "--repair"), ("restore", "x")):
        assert json.loads(fabula("record", *words, "--json").out)["code"] == "ERR_NO_RECORD"
