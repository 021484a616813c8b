"""What surrounds the source keeps its word: locked requirements, documents, examples."""

from __future__ import annotations

import os
import re
import shlex
import tomllib
from itertools import takewhile
from pathlib import Path

import pytest

from fabula.cli.parse import Surroundings, parse
from fabula.cli.table import find_command
from fabula.kernel.version import VERSION

REPOSITORY = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())
LOCKS = sorted((REPOSITORY / "requirements").glob("*.txt"))
PAGES = [*sorted(REPOSITORY.glob("*.md")), *sorted((REPOSITORY / "docs").rglob("*.md"))]


def locked(name: str) -> set[str]:
    text = (REPOSITORY / "requirements" / f"{name}.txt").read_text()
    return {re.split(r"[=\[]", line)[0] for line in text.splitlines() if "==" in line}


def normal(requirement: str) -> str:
    return re.sub(r"[-_.]+", "-", re.split(r"[><=;\[ ]", requirement)[0]).lower()


@pytest.mark.parametrize("lock", LOCKS, ids=lambda path: path.stem)
def test_every_locked_version_is_exact_and_has_hashes_and_no_index_is_named(lock: Path) -> None:
    text = lock.read_text()
    assert "http" not in text
    assert "--index" not in text
    blocks = re.split(r"\n(?=[a-z])", text.strip())
    assert blocks
    for block in blocks:
        assert "==" in block.split("\n")[0]
        assert block.count("--hash=sha256:") >= 1


def test_everything_that_is_needed_is_locked() -> None:
    assert {normal(r) for r in PROJECT["project"]["dependencies"]} <= locked("base")
    assert {normal(r) for r in PROJECT["build-system"]["requires"]} <= locked("build")
    development = {normal(r) for r in PROJECT["dependency-groups"]["dev"] if isinstance(r, str)}
    extras = {normal(r) for part in PROJECT["project"]["optional-dependencies"].values() for r in part} - {"fabula"}
    assert development | extras <= locked("dev")
    assert locked("base") <= locked("dev")


def test_both_locks_name_the_same_versions() -> None:
    def versions(name: str) -> set[str]:
        text = (REPOSITORY / "requirements" / f"{name}.txt").read_text()
        return {line.strip(" \\") for line in text.splitlines() if "==" in line}

    assert versions("base") <= versions("dev")
    assert versions("build") <= versions("dev")


def test_the_version_is_written_once() -> None:
    assert "version" in PROJECT["project"]["dynamic"]
    assert re.fullmatch(r"\d+\.\d+\.\d+", VERSION)


def test_scripts_that_are_called_can_be_run() -> None:
    for name in (".ci/run", "scripts/lock.sh"):
        assert os.access(REPOSITORY / name, os.X_OK)


def test_every_target_that_help_names_exists() -> None:
    makefile = (REPOSITORY / "Makefile").read_text()
    named = set(re.findall(r'@echo "make ([a-z-]+)', makefile))
    assert {"demo", "test", "lint", "bench-record", "bench-retrieval"} <= named
    assert named <= set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.relative_to(REPOSITORY).as_posix())
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)", page.read_text("utf-8")):
        assert "://" in target or (page.parent / target).exists(), target


def examples(page: Path) -> list[str]:
    """Return every call of ours in the page's code, fenced or inline, comments aside, continued lines as one."""
    text = page.read_text("utf-8").replace("\\\n", " ")
    fenced = [line for block in re.findall(r"```sh\n(.*?)```", text, re.DOTALL) for line in block.splitlines()]
    inline = re.findall(r"`(fabula [^`]+)`", text)
    return [line.removeprefix("$ ") for line in [*fenced, *inline] if line.removeprefix("$ ").startswith("fabula ")]


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.relative_to(REPOSITORY).as_posix())
def test_every_example_is_understood_by_the_command_line(page: Path) -> None:
    for example in examples(page):
        words = shlex.split(example.replace("CMD", "status").replace("COMMAND", "status"), comments=True)[1:]
        words = list(takewhile(lambda word: word not in {"<", ">", "|"}, words))  # the rest is the shell's
        named = find_command(tuple(words)) is not None  # the text speaks of the command
        if words and not named and "..." not in example:
            spelled = ["7d" if word == "TIME" else "3" if word == "N" else word for word in words]
            parse(spelled, Surroundings(Path("/"), 1_772_000_000_000))
