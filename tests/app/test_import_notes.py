"""Imports into the memory: previewed, in one commit, and a second time there is nothing to take."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest

from fabula.testing.outcome import Outcome

Fabula = Callable[..., Outcome]


@pytest.fixture
def corpus(fabula: Fabula, tmp_path: Path) -> Path:
    assert fabula("init").status == 0
    return tmp_path / "fabula-home" / "memory"


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    (folder / ".obsidian").mkdir(parents=True)
    (folder / ".obsidian" / "readme.md").write_text("- not a note\n")
    (folder / "CLAUDE.md").write_text("## Build\n\n- Use `uv`, not pip.\n- Tests need a database.\n")
    (folder / "tides.md").write_text("---\ntitle: Tides\n---\nTides follow the moon. See [[CLAUDE]].\n")
    (folder / "secret.md").write_text(f"- The key is AKIA{'QYLPMN5HHHFPZAM2'}.\n")
    return folder


def commits(corpus: Path) -> int:
    return int(subprocess.check_output(["git", "rev-list", "--count", "HEAD"], cwd=corpus))


def test_a_preview_changes_nothing_and_names_what_would_be_done(fabula: Fabula, corpus: Path, notes: Path) -> None:
    before = commits(corpus)
    preview = fabula("import", "markdown", str(notes), "--dry-run", "--json").data
    assert (preview["applied"], preview["commit"], commits(corpus)) == (False, None, before)
    done = fabula("import", "markdown", str(notes), "--json").data
    assert done["taken"] == preview["taken"]
    assert [one["key"] for one in done["taken"]] == ["CLAUDE.md:3", "CLAUDE.md:4", "tides.md"]
    assert [one["key"] for one in done["skipped"]] == ["secret.md:1"]
    assert commits(corpus) == before + 1


def test_a_second_import_adds_nothing_also_of_what_was_corrected_meanwhile(
    fabula: Fabula, corpus: Path, notes: Path
) -> None:
    taken = fabula("import", "markdown", str(notes), "--json").data["taken"]
    corrected = fabula("memory", "correct", taken[0]["path"], "--claim", "Use `uv` or pip.", "--reason", "both work")
    assert corrected.status == 0
    before = commits(corpus)
    again = fabula("import", "markdown", str(notes), "--json").data
    assert (again["taken"], again["commit"], len(again["known"])) == ([], None, 3)
    assert again["known"][0]["path"].startswith("archive/")
    assert commits(corpus) == before


def test_links_between_notes_are_relations_between_memories(fabula: Fabula, corpus: Path, notes: Path) -> None:
    taken = {one["key"]: one["path"] for one in fabula("import", "markdown", str(notes), "--json").data["taken"]}
    text = (corpus / taken["tides.md"]).read_text()
    assert f'<link rel="memhtml-relates-to" href="/{taken["CLAUDE.md:3"]}">' in text


def test_notes_of_a_repository_belong_to_its_workspace(fabula: Fabula, corpus: Path, notes: Path) -> None:
    subprocess.run(["git", "init", "-q"], cwd=notes, check=True)
    (one, *_) = fabula("import", "markdown", str(notes / "CLAUDE.md"), "--json").data["taken"]
    assert one["path"].startswith("projects/notes/")


def test_a_place_without_notes_is_a_path_error(fabula: Fabula, corpus: Path, tmp_path: Path) -> None:
    assert fabula("import", "markdown", str(tmp_path / "none"), "--json").envelope["code"] == "ERR_PATH"
    assert fabula("import", "markdown", str(tmp_path / "work"), "--json").envelope["code"] == "ERR_PATH"


def claude_mem(folder: Path) -> Path:
    folder.mkdir()
    connection = apsw.Connection(str(folder / "claude-mem.db"))
    connection.execute(
        "create table observations(id integer primary key, memory_session_id text, project text, text text, type text, "
        "title text, subtitle text, facts text, narrative text, concepts text, created_at_epoch integer)"
    )
    rows = [
        (1, "s", "harbor", None, "decision", "Two clocks", None, "[]", "Two. One drifts.", "[]", 1_760_000_000_000),
        (2, "s", "harbor", None, "change", None, None, json.dumps([]), None, "[]", 1_760_000_000_000),
    ]  # fmt: skip
    connection.executemany("insert into observations values(?,?,?,?,?,?,?,?,?,?,?)", rows)
    connection.close()
    return folder


def test_claude_mem_is_read_only_and_taken_once(fabula: Fabula, corpus: Path, tmp_path: Path) -> None:
    folder = claude_mem(tmp_path / "cm")
    bytes_before = (folder / "claude-mem.db").read_bytes()
    done = fabula("import", "claude-mem", str(folder), "--json").data
    assert [one["path"] for one in done["taken"]] == ["projects/harbor/two-clocks.html"]
    assert [one["reason"] for one in done["skipped"]] == ["it says nothing"]
    again = fabula("import", "claude-mem", str(folder / "claude-mem.db"), "--json").data
    assert (again["taken"], again["commit"]) == ([], None)
    assert (folder / "claude-mem.db").read_bytes() == bytes_before
    assert [path.name for path in folder.iterdir()] == ["claude-mem.db"]


def test_a_database_of_something_else_is_refused(fabula: Fabula, corpus: Path, tmp_path: Path) -> None:
    connection = apsw.Connection(str(tmp_path / "other.db"))
    connection.execute("create table x(y)")
    connection.close()
    assert fabula("import", "claude-mem", str(tmp_path / "other.db"), "--json").envelope["code"] == "ERR_IMPORT"
    (tmp_path / "no.db").write_text("not a database at all" * 100)
    assert fabula("import", "claude-mem", str(tmp_path / "no.db"), "--json").envelope["code"] == "ERR_IMPORT"
