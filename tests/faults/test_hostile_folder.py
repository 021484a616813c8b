"""A working directory that wants to be more than a place: nothing in it is read as configuration or run."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from command import User

MARK = "touched-by-the-working-directory"
CODE = f"open({MARK!r}, 'w').close()\nraise SystemExit(99)\n"
MODULES = ("json.py", "re.py", "apsw.py", "msgspec.py", "sitecustomize.py", "usercustomize.py", "fabula.py", "click.py")


def hostile(folder: Path) -> Path:
    place = folder / "repository"
    (place / "fabula").mkdir(parents=True)
    for name in (*MODULES, "fabula/__init__.py"):
        (place / name).write_text(CODE, encoding="utf-8")
    elsewhere = folder / "elsewhere"
    settings = f'[record]\nclaude_roots = ["{elsewhere}"]\nignore = ["*"]\n'
    for name in ("config.toml", "fabula.toml", ".fabula.toml", ".fabula/config.toml"):
        path = place / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(settings, encoding="utf-8")
    variables = f"FABULA_HOME={elsewhere}\nCLAUDE_CONFIG_DIR={elsewhere}\nFABULA_DISABLE=1\nPYTHONPATH={place}\n"
    (place / ".env").write_text(variables, encoding="utf-8")
    (place / ".git").write_text("gitdir: ./.git\n", encoding="utf-8")
    return place


def test_a_hostile_working_directory_changes_nothing(tmp_path: Path) -> None:
    user = User.with_samples(tmp_path)
    place = hostile(tmp_path)
    calm = user.run("record", "scan").data["totals"]
    asked = user.run("record", "sessions", "--all").data
    there = user.run("record", "scan", cwd=place)
    assert there.status == 0
    assert there.data["totals"]["objects"] == calm["objects"]
    assert user.run("record", "sessions", "--all", cwd=place).data == asked
    assert not list(tmp_path.rglob(MARK))
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.parametrize(
    "content",
    [
        *("gitdir: ./.git\n", "gitdir: .\n", "gitdir: ../repository/.git\n", "gitdir: /proc/self/root\n"),
        *("gitdir: " + "x" * 100_000, "gitdir: \x00\n", "", "no git at all", "gitdir: ~/.ssh\n"),
    ],
)
def test_a_git_file_that_points_nowhere_ends_the_search_for_the_repository(tmp_path: Path, content: str) -> None:
    user = User.with_samples(tmp_path)
    place = tmp_path / "repository" / "deep"
    place.mkdir(parents=True)
    (place.parent / ".git").write_text(content, encoding="utf-8")
    assert user.run("record", "sessions", cwd=place).status == 0


def test_a_git_folder_whose_parts_link_in_a_circle_is_survived(tmp_path: Path) -> None:
    user = User.with_samples(tmp_path)
    place = tmp_path / "repository"
    (place / ".git").mkdir(parents=True)
    os.symlink("commondir", place / ".git" / "commondir")
    os.symlink("HEAD", place / ".git" / "HEAD")
    os.symlink("config", place / ".git" / "config")
    assert user.run("record", "sessions", cwd=place).status == 0


def test_a_working_directory_that_was_deleted_is_survived(tmp_path: Path) -> None:
    user = User.with_samples(tmp_path)
    gone = tmp_path / "gone"
    gone.mkdir()
    command = f"cd {gone} && rmdir {gone} && exec {user.program()} record sessions --all --json"
    done = subprocess.run(["sh", "-c", command], capture_output=True, check=False, env=user.environment(), timeout=60)
    assert done.returncode == 0, done.stderr
    assert b"Traceback" not in done.stderr
