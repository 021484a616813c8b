"""Settings come from one file and the environment, and a wrong one is named."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from fabula.app.config import KEYS, Config, read_config
from fabula.kernel.errors import FabulaError

HOME = Path("/users/ada")


def read(tmp_path: Path, text: str = "", environment: Mapping[str, str] | None = None) -> Config:
    file = tmp_path / "config.toml"
    if text:
        file.write_text(text)
    return read_config(file, environment or {}, HOME)


def refused(tmp_path: Path, text: str) -> FabulaError:
    with pytest.raises(FabulaError) as caught:
        read(tmp_path, text)
    assert caught.value.code == "ERR_CONFIG"
    assert str(tmp_path / "config.toml") in caught.value.message
    return caught.value


def test_without_a_file_every_key_has_its_default(tmp_path: Path) -> None:
    config = read(tmp_path)
    assert {s.origin for s in config.settings.values()} == {"default"}
    assert config["search.limit"] == 10
    assert config["record.claude_roots"] == (HOME / ".claude", HOME / ".config/claude")
    assert set(config.settings) == {key.name for key in KEYS}


def test_the_file_beats_the_default_and_says_so(tmp_path: Path) -> None:
    config = read(tmp_path, '[search]\nlimit = 3\n[record]\nignore = ["*/secret/*"]\nvault_roots = ["~/old", "/v"]\n')
    assert config["search.limit"] == 3
    assert config.settings["search.limit"].origin == "file"
    assert config["record.ignore"] == ("*/secret/*",)
    assert config["record.vault_roots"] == (HOME / "old", Path("/v"))


def test_the_environment_beats_the_file(tmp_path: Path) -> None:
    environment = {
        "CLAUDE_CONFIG_DIR": "/a,~/b",
        "CODEX_HOME": "/c",
        "XDG_DATA_HOME": "/d",
        "GEMINI_CLI_HOME": "/g",
        "OPENCODE_DB": "x.db",
    }
    config = read(tmp_path, '[record]\nclaude_roots = ["/file"]\n', environment)
    assert config["record.claude_roots"] == (Path("/a"), HOME / "b")
    assert config["record.codex_home"] == Path("/c")
    assert config["record.opencode_data"] == Path("/d/opencode")
    assert config["record.opencode_database"] == Path("/d/opencode/x.db")
    assert config["record.gemini_home"] == Path("/g/.gemini")
    assert config.settings["record.claude_roots"].detail == "CLAUDE_CONFIG_DIR"


@pytest.mark.parametrize(("value", "enabled"), [("1", False), ("true", False), ("0", True), ("no", True), ("", True)])
def test_the_off_switch_is_read_from_the_environment(tmp_path: Path, value: str, enabled: bool) -> None:
    assert read(tmp_path, environment={"FABULA_DISABLE": value})["enabled"] is enabled


def test_an_unknown_key_names_the_nearest(tmp_path: Path) -> None:
    assert (
        "unknown key search.limits; did you mean search.limit?" in refused(tmp_path, "[search]\nlimits = 3\n").message
    )
    assert "unknown key record.scan;" in refused(tmp_path, "[record.scan]\nlimit = 1\n").message
    assert "unknown key search" in refused(tmp_path, "search = 3\n").message


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ('search.limit = "3"', "a whole number of at least 1"),
        ("search.limit = true", "a whole number"),
        ("search.limit = 0", "at least 1"),
        ('search.scope = "world"', "one of repository, all"),
        ("record.ignore = [1]", "a list of texts"),
        ('record.vault_roots = "/v"', "a list of paths"),
        ('record.codex_home = "relative"', "an absolute path"),
        ('record.codex_home = ""', "the path of a folder"),
        ("enabled = 1", "true or false"),
    ],
)
def test_a_value_of_the_wrong_type_says_what_is_wanted(tmp_path: Path, line: str, wanted: str) -> None:
    assert wanted in refused(tmp_path, line + "\n").message


def test_a_file_that_is_no_toml_is_named(tmp_path: Path) -> None:
    refused(tmp_path, "limit = = 3")
    (tmp_path / "config.toml").write_bytes(b"a = '\xff'")
    refused(tmp_path, "")


def test_a_file_that_cannot_be_read_is_an_error_with_its_remedy(tmp_path: Path) -> None:
    (tmp_path / "config.toml").mkdir()
    error = refused(tmp_path, "")
    assert error.suggestions


def test_a_relative_path_in_the_environment_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FabulaError, match="CODEX_HOME"):
        read(tmp_path, environment={"CODEX_HOME": "here"})


def test_claudes_folders_are_listed_with_commas_and_blanks_count_for_nothing(tmp_path: Path) -> None:
    def roots(listed: str) -> tuple[Path, ...]:
        return tuple(
            read_config(tmp_path / "config.toml", {"CLAUDE_CONFIG_DIR": listed}, tmp_path)["record.claude_roots"]
        )

    assert roots("/a, ~/b,,/a") == (Path("/a"), tmp_path / "b")
    assert roots(" , ") == roots("") == (tmp_path / ".claude", tmp_path / ".config" / "claude")


def test_the_folders_of_kimi_and_pi_are_those_of_their_variables(tmp_path: Path) -> None:
    there = {"KIMI_CODE_HOME": "/k", "KIMI_SHARE_DIR": "/old", "PI_CODING_AGENT_DIR": "~/p"}
    config = read(tmp_path, environment={**there, "PI_CODING_AGENT_SESSION_DIR": "/s"})
    assert (config["record.kimi_home"], config["record.kimi_cli_home"]) == (Path("/k"), Path("/old"))
    assert config["record.pi_agent"].name == "p"
    assert config["record.pi_sessions"] == (Path("/s"),)
    moving = read(tmp_path, environment={"PI_CODING_AGENT_SESSION_DIR": "sessions"})
    assert moving["record.pi_sessions"] == ()


def test_the_corpus_lies_in_our_home_unless_the_environment_or_the_file_says_where(tmp_path: Path) -> None:
    assert read(tmp_path)["memory.root"] == tmp_path / "memory"
    assert read(tmp_path, environment={"FABULA_MEMORY": "~/notes"})["memory.root"] == HOME / "notes"
    assert read(tmp_path, '[memory]\nroot = "$FABULA_HOME/team"\n')["memory.root"] == tmp_path / "team"
    with pytest.raises(FabulaError, match="FABULA_MEMORY"):
        read(tmp_path, environment={"FABULA_MEMORY": "notes"})
