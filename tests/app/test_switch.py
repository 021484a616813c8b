"""Switching a project off keeps the rest of the file, and what is suggested undoes it."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabula.app.tomledit import with_list
from fabula.testing.outcome import Outcome

Fabula = Callable[..., Outcome]


def test_off_stops_the_record_in_the_project_and_its_suggestion_brings_it_back(fabula: Fabula, tmp_path: Path) -> None:
    assert fabula("off").out == f"Fabula is now off in {tmp_path / 'work'}\n"
    assert fabula("off").out.startswith("Fabula was already off")
    refusal = fabula("record", "search", "x", "--json")
    assert refusal.envelope["code"] == "ERR_DISABLED"
    (suggestion,) = refusal.envelope["suggestions"]
    assert fabula(*suggestion.split()[1:]).status == 0
    assert fabula("on", "--json").data["changed"] is False
    assert fabula("record", "search", "x", "--json").out.find("ERR_DISABLED") == -1


def test_off_holds_in_every_folder_of_the_repository_and_its_work_trees(
    fabula: Fabula, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    main = tmp_path / "main"
    (main / ".git" / "worktrees" / "side").mkdir(parents=True)
    (main / "src").mkdir()
    side = tmp_path / "side"
    side.mkdir()
    (main / ".git" / "worktrees" / "side" / "commondir").write_text("../..\n")
    (side / ".git").write_text(f"gitdir: {main}/.git/worktrees/side\n")
    assert fabula("off", str(main / "src"), "--json").data["project"] == str(main)
    for folder in (main / "src", side):
        monkeypatch.chdir(folder)
        assert fabula("record", "search", "x").err.endswith("try: fabula on\n")
    assert fabula("on", "--json").data["changed"] is True


def test_a_folder_that_does_not_exist_is_a_path_error(fabula: Fabula) -> None:
    assert fabula("off", "nowhere", "--json").envelope["code"] == "ERR_PATH"


def test_off_keeps_comments_and_other_settings(fabula: Fabula, tmp_path: Path) -> None:
    home = tmp_path / "fabula-home"
    home.mkdir()
    (home / "config.toml").write_text("# mine\n[search]\nlimit = 4 # four\n")
    fabula("off")
    text = (home / "config.toml").read_text()
    assert text.endswith("# mine\n[search]\nlimit = 4 # four\n")
    assert tomllib.loads(text)["off_projects"] == [str(tmp_path / "work")]
    assert (home / "config.toml").stat().st_mode & 0o077 == 0


def test_a_file_that_cannot_be_changed_safely_is_left_alone(fabula: Fabula, tmp_path: Path) -> None:
    home = tmp_path / "fabula-home"
    home.mkdir()
    before = "off_projects = ['/a]b']\n"
    (home / "config.toml").write_text(before)
    assert fabula("off", "--json").envelope["code"] == "ERR_CONFIG"
    assert (home / "config.toml").read_text() == before


def test_everything_can_be_switched_off_in_the_file(fabula: Fabula, tmp_path: Path) -> None:
    home = tmp_path / "fabula-home"
    home.mkdir()
    (home / "config.toml").write_text("enabled = false\n")
    assert "enabled = true" in fabula("record", "search", "x", "--json").envelope["suggestions"][0]


@given(st.lists(st.text(max_size=20), max_size=4), st.lists(st.text(max_size=20), max_size=4))
def test_a_list_that_was_written_can_be_rewritten(first: list[str], second: list[str]) -> None:
    once = with_list('# head\n[a]\nb = "c"\n', "names", first)
    if once is None:
        assert any(0xD800 <= ord(c) <= 0xDFFF for text in first for c in text)
        return
    twice = with_list(once, "names", second)
    if twice is not None:
        assert tomllib.loads(twice) == {"names": second, "a": {"b": "c"}}
        assert twice.startswith("names = [") or "# head" in twice


def test_a_broken_file_is_not_rewritten() -> None:
    assert with_list("a = = 1", "names", []) is None
