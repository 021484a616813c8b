"""``fabula init``: everything that is missing, nothing twice, nothing into what is somebody else's."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabula.app.workspace import RULES, make_workspace
from fabula.testing.outcome import Outcome

Fabula = Callable[..., Outcome]


def git(folder: Path, *words: str) -> str:
    return subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True, text=True).stdout


def everything_below(folder: Path) -> dict[str, tuple[int, bytes]]:
    return {
        str(path.relative_to(folder)): (path.stat().st_mtime_ns, path.read_bytes())
        for path in folder.rglob("*")
        if path.is_file()
    }


def states(outcome: Outcome) -> dict[str, str]:
    return {part["what"]: part["state"] for part in outcome.data["parts"]}


def test_init_makes_home_memory_and_workspace_and_a_second_run_writes_nothing(fabula: Fabula, tmp_path: Path) -> None:
    git(tmp_path / "work", "init", "-q")
    first = fabula("init", "--json")
    assert states(first) == {"home": "made", "memory": "made", "workspace": "made"}
    assert git(tmp_path / "fabula-home" / "memory", "log", "--format=%s") == "memhtml(init): the folders of a memory\n"
    before = everything_below(tmp_path)
    again = fabula("init", "--json")
    assert states(again) == {"home": "there", "memory": "there", "workspace": "there"}
    assert again.data["changed"] is False
    assert everything_below(tmp_path) == before


def test_outside_of_a_repository_no_workspace_is_made_unless_it_is_asked_for(fabula: Fabula, tmp_path: Path) -> None:
    assert set(states(fabula("init", "--json"))) == {"home", "memory"}
    assert not (tmp_path / "work" / ".fable").exists()
    assert states(fabula("init", "--workspace", "--json")) == {"workspace": "made"}
    assert (tmp_path / "work" / ".fable" / ".gitignore").is_file()


def test_git_sees_checks_and_policy_of_a_workspace_and_nothing_else_in_it(fabula: Fabula, tmp_path: Path) -> None:
    work = tmp_path / "work"
    git(work, "init", "-q")
    fabula("init", "--workspace")
    for name in ("checks.toml", "policy.toml", "state.json", "state.lock"):
        (work / ".fable" / name).write_text("x")
    (work / ".fable" / "pending-mutations").mkdir()
    (work / ".fable" / "pending-mutations" / "1.json").write_text("x")
    seen = git(work, "status", "--short", "--untracked-files=all").splitlines()
    assert sorted(seen) == ["?? .fable/.gitignore", "?? .fable/checks.toml", "?? .fable/policy.toml"]


def test_the_workspace_is_the_top_of_the_work_tree_that_one_stands_in(
    fabula: Fabula, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = tmp_path / "work"
    git(work, "init", "-q")
    git(work, "-c", "user.name=m", "-c", "user.email=m@x", "commit", "-q", "--allow-empty", "-m", "x")
    git(work, "worktree", "add", "-q", str(tmp_path / "side"))
    (tmp_path / "side" / "deep").mkdir()
    monkeypatch.chdir(tmp_path / "side" / "deep")
    fabula("init", "--workspace")
    assert (tmp_path / "side" / ".fable").is_dir()
    assert not (work / ".fable").exists()


@pytest.mark.parametrize("inner", ["", "notes/memory"])
def test_a_repository_of_something_else_is_refused_and_left_alone(fabula: Fabula, tmp_path: Path, inner: str) -> None:
    other = tmp_path / "other"
    other.mkdir()
    git(other, "init", "-q")
    (other / "main.c").write_text("int main;")
    before = everything_below(other)
    refused = fabula("init", "--memory", str(other / inner), "--json")
    assert refused.envelope["code"] == "ERR_FOREIGN"
    assert everything_below(other) == before


def test_a_memory_is_no_workspace(fabula: Fabula, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fabula("init")
    monkeypatch.chdir(tmp_path / "fabula-home" / "memory")
    assert states(fabula("init", "--json"))["workspace"] == "left out"
    assert fabula("init", "--workspace", "--json").envelope["code"] == "ERR_FOREIGN"


def test_the_home_folder_of_the_user_gets_no_workspace(
    fabula: Fabula, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "work"))
    git(tmp_path / "work", "init", "-q")
    assert states(fabula("init", "--json"))["workspace"] == "left out"
    assert not (tmp_path / "work" / ".fable").exists()


def test_a_folder_without_the_flag_it_belongs_to_is_a_wrong_call(fabula: Fabula) -> None:
    assert fabula("init", "somewhere", "--json").envelope["code"] == "ERR_USAGE"


def test_a_memory_elsewhere_says_how_it_is_used(fabula: Fabula, tmp_path: Path) -> None:
    (part,) = fabula("init", "--memory", str(tmp_path / "mine"), "--json").data["parts"]
    assert part["state"] == "made"
    assert "--corpus" in part["note"]


def test_what_was_deleted_from_a_memory_comes_back(fabula: Fabula, tmp_path: Path) -> None:
    fabula("init")
    marker = tmp_path / "fabula-home" / "memory" / ".fabula" / "corpus.json"
    whole = marker.read_bytes()
    (marker.parent.parent / "README.html").unlink()
    assert states(fabula("init", "--json"))["memory"] == "completed"
    assert marker.read_bytes() == whole
    assert states(fabula("init", "--json"))["memory"] == "there"


def test_a_link_in_the_place_of_the_workspace_is_not_followed(fabula: Fabula, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "work" / ".fable").symlink_to(tmp_path / "elsewhere")
    assert fabula("init", "--workspace", "--json").envelope["code"] == "ERR_PATH"
    assert not list((tmp_path / "elsewhere").iterdir())


@given(st.lists(st.sampled_from([*RULES, "", "# mine", "*.log"]), max_size=8), st.booleans())
def test_lines_of_a_person_stay_and_the_rules_hold_after_them(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str], ends: bool
) -> None:
    top = tmp_path_factory.mktemp("top")
    (top / ".fable").mkdir()
    file = top / ".fable" / ".gitignore"
    text = "\n".join(lines) + ("\n" if ends else "")
    file.write_text(text)
    make_workspace(top)
    made = file.read_text()
    assert made.startswith(text)
    kept = [rule for rule in made.splitlines() if rule in RULES]
    last = {rule: len(kept) - kept[::-1].index(rule) for rule in RULES}
    assert max(last, key=lambda rule: -last[rule]) == "*"
    assert make_workspace(top) is False
