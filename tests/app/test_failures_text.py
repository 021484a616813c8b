"""Failures as text."""

from __future__ import annotations

from pathlib import Path

import pytest

from fabula.app.record.failures import FailuresRequest, failures
from fabula.cli.output import Out
from fabula.cli.render.failures import render
from fabula.testing.record_home import RecordHome
from fabula.testing.transcripts import ClaudeSession


@pytest.fixture
def home(tmp_path: Path) -> RecordHome:
    home = RecordHome(tmp_path / "home")
    session = ClaudeSession("text")
    session.prompt("run")
    session.tool("Bash", {"command": "make all"}, "make: error: no rule", failed=True)
    session.tool("Edit", {"file_path": "/w/Makefile", "old_string": "al:", "new_string": "all:"}, "updated")
    session.tool("Bash", {"command": "make all"}, "ok")
    home.save(session)
    return home


def shown(home: RecordHome, text: str = "", *, everything: bool = True) -> str:
    parts: list[bytes] = []
    out = Out(parts.append)
    render(failures(home.app, FailuresRequest(text, all=everything)), out)
    out.flush()
    return b"".join(parts).decode()


def test_what_solved_an_error_is_written_step_by_step(home: RecordHome) -> None:
    text = shown(home, "make: error: no rule")
    assert "resolved after:" in text
    assert "edit /w/Makefile" in text
    assert "+all:" in text
    assert "read on: fabula record thread" in text


def test_the_list_names_the_most_frequent_and_the_newest(home: RecordHome) -> None:
    text = shown(home)
    assert "1 time, 1 resolved" in text
    assert "newest" in text


def test_nothing_found_says_where_else_to_look(home: RecordHome) -> None:
    assert "add --all" in shown(home, "never seen", everything=False)
    assert "add --all" not in shown(home, "never seen")
    assert "no failures are recorded" in shown(home, everything=False)
