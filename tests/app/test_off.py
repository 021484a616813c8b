"""What is switched off is not taken in, whoever scans."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from fabula.testing.outcome import Outcome

Fabula = Callable[..., Outcome]
SAMPLES = Path(__file__).resolve().parents[1] / "data" / "samples" / "home"
OFF = "/home/mira/code/harbor"


@pytest.fixture
def samples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The bundled samples as the user's own home."""
    home = tmp_path / "mira"
    shutil.copytree(SAMPLES, home)
    monkeypatch.setenv("HOME", str(home))
    for variable in ("XDG_CONFIG_HOME", "XDG_DATA_HOME"):
        monkeypatch.delenv(variable, raising=False)
    return home


def configure(tmp_path: Path, line: str) -> None:
    (tmp_path / "fabula-home").mkdir()
    (tmp_path / "fabula-home" / "config.toml").write_text(line + "\n")


def scanned(fabula: Fabula) -> list[str]:
    return [file["path"] for file in fabula("record", "scan", "--json").data["files"]]


def test_sessions_of_a_project_that_is_off_are_left_out_with_all_that_belongs_to_them(
    fabula: Fabula, samples: Path, tmp_path: Path
) -> None:
    configure(tmp_path, f"off_projects = [{json.dumps(OFF)}]")
    paths = scanned(fabula)
    assert paths
    # the prompt history belongs to no session
    assert not [path for path in paths if "harbor" in path or "/rollout-" in path or "tool-results" in path]
    assert [path for path in paths if "tide-notes" in path]
    assert [path for path in paths if "/.gemini/" in path]
    assert [path for path in paths if "/opencode/" in path]


def test_every_agent_is_told_apart(fabula: Fabula, samples: Path, tmp_path: Path) -> None:
    configure(tmp_path, 'off_projects = ["/home/mira/code"]')
    paths = scanned(fabula)
    assert [Path(path).name for path in paths] == ["history.jsonl"]


def test_globs_leave_files_out(fabula: Fabula, samples: Path, tmp_path: Path) -> None:
    configure(tmp_path, 'record.ignore = ["*/.codex/*", "*-tide-notes/*"]')
    paths = scanned(fabula)
    assert not [path for path in paths if "/.codex/" in path or "-tide-notes/" in path]
    assert [path for path in paths if "-harbor/" in path]


def test_what_was_taken_in_before_stays(fabula: Fabula, samples: Path, tmp_path: Path) -> None:
    before = len(scanned(fabula))
    (tmp_path / "fabula-home" / "config.toml").write_text(f"off_projects = [{json.dumps(OFF)}]\n")
    assert len(scanned(fabula)) == before
    assert fabula("record", "verify").status == 0


def test_a_transcript_that_cannot_be_read_is_no_crash(fabula: Fabula, samples: Path, tmp_path: Path) -> None:
    configure(tmp_path, 'off_projects = ["/elsewhere"]')
    folder = samples / ".claude" / "projects" / "-x"
    folder.mkdir()
    (folder / "0b0e2f0a-1111-4222-8333-444455556666.jsonl").symlink_to("/nowhere/at/all")
    (folder / "0b0e2f0a-2222-4222-8333-444455556666.jsonl").write_bytes(b'{"cwd": "\\ud8"}\n')
    assert scanned(fabula)
