"""Status says where Fabula stands; whatever the doctor suggests clears its own condition."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from fabula.hosts.claude.retention import retention_days
from fabula.testing.outcome import Outcome

Fabula = Callable[..., Outcome]
SESSION = "0b0e2f0a-1111-4222-8333-444455556666"
PROMPT = {
    "type": "user",
    "uuid": "0b0e2f0a-aaaa-4222-8333-444455556666",
    "parentUuid": None,
    "sessionId": SESSION,
    "promptId": "0b0e2f0a-bbbb-4222-8333-444455556666",
    "timestamp": "2026-02-01T10:00:00.000Z",
    "cwd": "/somewhere",
    "message": {"role": "user", "content": "why does the harbour light blink"},
}


@pytest.fixture
def claude(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A Claude Code folder with one session."""
    root = tmp_path / "claude"
    project = root / "projects" / "-somewhere"
    project.mkdir(parents=True)
    (project / f"{SESSION}.jsonl").write_text(json.dumps(PROMPT) + "\n")
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(root))
    return root


def checks(fabula: Fabula) -> dict[str, dict[str, Any]]:
    return {check["name"]: check for check in fabula("doctor", "--json").data["checks"]}


def follow(fabula: Fabula, remedy: str) -> None:
    """Do what a remedy says."""
    words = shlex.split(remedy)
    if words[0] == "fabula":
        assert fabula(*words[1:]).status == 0
    elif words[0] in {"chmod", "mv"}:
        subprocess.run(words, check=True)
    elif words[0] == "set":
        key, value, file = words[1], words[3], Path(words[5])
        file.write_text(f"{key} = {value}\n")
    elif words[0] == "unset":
        del os.environ[words[1]]
    else:
        raise AssertionError(remedy)


def test_status_before_the_first_scan_names_the_next_step(fabula: Fabula, claude: Path) -> None:
    data = fabula("status", "--json").data
    assert data["map"]["exists"] is False
    assert {"host": "claude", "path": str(claude), "exists": True} in data["sources"]
    text = fabula("status").out
    assert "nothing sealed yet: fabula record scan" in text
    assert "nothing indexed yet: fabula record scan" in text


def test_status_after_a_scan_counts(fabula: Fabula, claude: Path) -> None:
    fabula("record", "scan")
    data = fabula("status", "--json").data
    assert (data["map"]["sessions"], data["map"]["records"], data["map"]["files"]) == (1, 1, 1)
    assert data["vault"]["bytes"] > 0
    assert "1 session, 1 thread, 1 record in 1 file, 2026-02-01 to 2026-02-01" in fabula("status").out


def test_status_says_where_it_is_off(fabula: Fabula) -> None:
    fabula("off")
    assert fabula("status", "--json").data["off_here"] is True
    assert "off in this project" in fabula("status").out


def test_everything_is_well_after_a_scan(fabula: Fabula, claude: Path) -> None:
    fabula("record", "scan")
    outcome = fabula("doctor")
    assert outcome.status == 0
    assert outcome.out.endswith("everything works\n")
    assert {check["state"] for check in checks(fabula).values()} == {"good"}


def test_each_warning_of_a_fresh_home_is_cleared_by_its_remedy(fabula: Fabula, claude: Path) -> None:
    before = checks(fabula)
    troubled = {name for name, check in before.items() if check["state"] != "good"}
    assert troubled == {"home", "vault", "map", "retention"}
    follow(fabula, before["map"]["remedies"][0])
    after = checks(fabula)
    assert {after[name]["state"] for name in troubled} == {"good"}


def damage_map(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for file in home.glob("map.db*"):
        file.unlink()
    (home / "map.db").write_bytes(b"no database at all " * 500)


def overwrite_the_middle(file: Path) -> None:
    """Spoil the pages behind the first few: the file still opens."""
    import apsw

    connection = apsw.Connection(str(file))
    connection.pragma("wal_checkpoint(truncate)")
    size = int(connection.pragma("page_size"))
    connection.close()
    whole = file.read_bytes()
    file.write_bytes(whole[: 8 * size] + b"\x55" * (len(whole) - 8 * size))


def damage_the_middle_of_the_map(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    overwrite_the_middle(home / "map.db")


def damage_the_middle_of_the_journal(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    overwrite_the_middle(home / "vault" / "journal.db")


def lose_the_journal(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for file in (home / "vault").glob("journal.db*"):
        file.unlink()


def age_map(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from fabula.record.map.schema import APPLICATION_ID, SCHEMA, VERSION
    from fabula.storage.database import open_database

    connection = open_database(
        home / "map.db", schema=SCHEMA, version=VERSION, application=APPLICATION_ID, durable=False
    )
    connection.execute("pragma user_version=999")
    connection.close()


def stop_an_erasure(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from fabula.record.vault.erasing import Erasure, commit_erasure
    from fabula.record.vault.journal import Journal

    journal = Journal.open(home / "vault", read_only=False)
    commit_erasure(home / "vault", journal, Erasure(marks={("uid", b"gone")}), 1)
    journal.close()


def spoil_config(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / "config.toml").write_text("this is no toml")


def shrink_budget(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / "config.toml").write_text("record.size_budget_mb = 1\n")
    (home / "vault" / "weight").write_bytes(bytes(3_000_000))


def switch_off(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FABULA_DISABLE", "1")


@pytest.mark.parametrize(
    ("name", "spoil"),
    [
        ("map", damage_map),
        ("map", damage_the_middle_of_the_map),
        ("vault", damage_the_middle_of_the_journal),
        ("vault", lose_the_journal),
        ("erasing", stop_an_erasure),
        ("map", age_map),
        ("config", spoil_config),
        ("size", shrink_budget),
        ("switch", switch_off),
    ],
)
def test_a_condition_is_seen_and_cleared_by_the_remedy_it_names(
    fabula: Fabula,
    claude: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    spoil: Callable[[Path, pytest.MonkeyPatch], None],
) -> None:
    fabula("record", "scan")
    spoil(tmp_path / "fabula-home", monkeypatch)
    seen = checks(fabula)[name]
    assert seen["state"] != "good"
    follow(fabula, seen["remedies"][-1])
    assert checks(fabula)[name]["state"] == "good"


def test_status_says_that_an_erasure_is_unfinished_and_what_finishes_it(
    fabula: Fabula, claude: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fabula("record", "scan")
    stop_an_erasure(tmp_path / "fabula-home", monkeypatch)
    assert fabula("status", "--json").data["vault"]["unfinished"] is True
    assert "not yet erased from every file: fabula record scan" in fabula("status").out
    fabula("record", "scan")
    assert fabula("status", "--json").data["vault"]["unfinished"] is False
    assert "not yet erased" not in fabula("status").out


def test_status_names_a_folder_of_every_agent_that_is_read(fabula: Fabula) -> None:
    from fabula.app.sources import configured_sources
    from fabula.app.wiring import App
    from fabula.kernel.clock import SystemClock

    app = App(environment=dict(os.environ), cwd=Path.cwd(), user_home=Path.home(), clock=SystemClock())
    shown = {source["host"] for source in fabula("status", "--json").data["sources"]}
    assert {source.host for source in configured_sources(app.config)} <= shown


def test_something_bad_makes_the_doctor_exit_1(fabula: Fabula, tmp_path: Path) -> None:
    (tmp_path / "fabula-home").write_text("in the way")
    outcome = fabula("doctor", "--json")
    assert outcome.status == 1
    home = next(check for check in outcome.data["checks"] if check["name"] == "home")
    follow(fabula, home["remedies"][0])
    assert checks(fabula)["home"]["state"] == "warning"
    assert "attention" not in fabula("doctor").out


def test_a_full_disk_is_seen(fabula: Fabula, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=1000))
    assert checks(fabula)["disk"]["state"] == "bad"
    assert "1 thing needs attention" in fabula("doctor").out


def test_without_any_source_the_doctor_says_what_to_set(fabula: Fabula, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", "/nowhere/at/all")
    check = checks(fabula)["sources"]
    assert check["state"] == "warning"
    assert "record.claude_roots" in check["remedies"][0]


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads every folder")
def test_a_folder_that_cannot_be_read_is_named_with_its_remedy(fabula: Fabula, claude: Path) -> None:
    closed = claude / "projects" / "-closed"
    closed.mkdir()
    closed.chmod(0)
    check = checks(fabula)["folders"]
    follow(fabula, check["remedies"][0])
    assert checks(fabula)["folders"]["state"] == "good"


def test_a_link_that_leads_out_is_named_and_not_to_be_opened_with_chmod(fabula: Fabula, claude: Path) -> None:
    (claude / "projects" / "-somewhere" / "lost.jsonl").symlink_to("/nowhere/at/all")
    check = checks(fabula)["folders"]
    assert (check["state"], check["remedies"]) == ("warning", [])
    assert "lost.jsonl" in check["message"]


def test_a_home_that_is_a_file_is_a_wrong_setting(fabula: Fabula, tmp_path: Path) -> None:
    (tmp_path / "fabula-home").write_text("in the way")
    envelope = fabula("status", "--json").envelope
    assert (envelope["code"], envelope["suggestions"]) == ("ERR_CONFIG", ["export FABULA_HOME=/a/folder"])


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes everywhere")
def test_a_home_that_cannot_be_written_is_named_with_its_remedy(fabula: Fabula, tmp_path: Path) -> None:
    home = tmp_path / "fabula-home"
    home.mkdir()
    home.chmod(0o500)
    follow(fabula, checks(fabula)["home"]["remedies"][0])
    assert checks(fabula)["home"]["state"] == "good"


@pytest.mark.parametrize(
    ("text", "days"),
    [('{"cleanupPeriodDays": 7}', 7), ('{"cleanupPeriodDays": "7"}', 30), ("[]", 30), ("{", 30), (None, 30)],
)
def test_the_agents_own_retention_is_read_from_its_settings(tmp_path: Path, text: str | None, days: int) -> None:
    if text is not None:
        (tmp_path / "settings.json").write_text(text)
    assert retention_days(tmp_path) == days


def test_a_scan_that_is_long_ago_is_a_warning(fabula: Fabula, claude: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (claude / "settings.json").write_text('{"cleanupPeriodDays": 7}')
    fabula("record", "scan")
    now = __import__("time").time_ns() // 1_000_000
    monkeypatch.setattr("fabula.kernel.clock.SystemClock.now_ms", lambda self: now + 6 * 86_400_000)
    check = checks(fabula)["retention"]
    assert check["state"] == "warning"
    assert "after 7 days, the last scan was 6 days ago" in check["message"]
