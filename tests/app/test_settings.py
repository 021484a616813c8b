"""``fabula config`` lists every key, its value and where it came from."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from fabula.app.config import KEYS
from fabula.testing.outcome import Outcome

Fabula = Callable[..., Outcome]


def test_every_key_is_listed_with_value_and_origin(
    fabula: Fabula, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "fabula-home"
    home.mkdir()
    (home / "config.toml").write_text("search.limit = 4\n")
    monkeypatch.setenv("CODEX_HOME", "/codex")
    rows = {row["key"]: row for row in fabula("config", "--json").data["settings"]}
    assert set(rows) == {key.name for key in KEYS}
    assert (rows["search.limit"]["value"], rows["search.limit"]["origin"]) == (4, "file")
    assert (rows["record.codex_home"]["value"], rows["record.codex_home"]["detail"]) == ("/codex", "CODEX_HOME")
    text = fabula("config").out
    assert 'record.codex_home = "/codex"  [environment CODEX_HOME]' in text
    assert "search.limit = 4  [file]" in text
    assert "enabled = true" in text


def test_one_key_can_be_asked_for_and_a_wrong_one_names_the_nearest(fabula: Fabula) -> None:
    assert [row["key"] for row in fabula("config", "search.limit", "--json").data["settings"]] == ["search.limit"]
    wrong = fabula("config", "search.limits", "--json")
    assert wrong.status == 2
    assert wrong.envelope["suggestions"] == ["fabula config search.limit"]


def test_nothing_in_the_working_directory_changes_anything(fabula: Fabula, tmp_path: Path) -> None:
    before = fabula("config", "--json").out
    for name in (".env", "config.toml", "fabula.toml", "sitecustomize.py", ".fabula/config.toml"):
        file = tmp_path / "work" / name
        file.parent.mkdir(exist_ok=True)
        file.write_text("FABULA_DISABLE=1\nenabled = false\n")
    assert fabula("config", "--json").out == before


def test_a_wrong_file_is_named_by_every_command_that_needs_it(fabula: Fabula, tmp_path: Path) -> None:
    (tmp_path / "fabula-home").mkdir()
    (tmp_path / "fabula-home" / "config.toml").write_text("serch.limit = 4\n")
    wrong = fabula("config", "--json")
    assert wrong.status == 2
    assert wrong.envelope["code"] == "ERR_CONFIG"
