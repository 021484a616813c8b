"""A file's history as text."""

from __future__ import annotations

from pathlib import Path

import pytest

from fabula.app.record.file import FileRequest, file
from fabula.cli.output import Out
from fabula.cli.render.file import render
from fabula.testing.record_home import RecordHome
from fabula.testing.transcripts import ClaudeSession

PATH = "/home/mira/code/harbor/my app.py"


@pytest.fixture
def home(tmp_path: Path) -> RecordHome:
    home = RecordHome(tmp_path / "home")
    session = ClaudeSession("text")
    session.prompt("go")
    session.tool("Write", {"file_path": PATH, "content": "a\n"}, "created")
    session.tool("Edit", {"file_path": PATH, "old_string": "x", "new_string": "y"}, "updated")
    session.tool("Write", {"file_path": PATH, "content": "b\n"}, "updated")
    home.save(session)
    return home


def shown(home: RecordHome, **asked: object) -> str:
    parts: list[bytes] = []
    out = Out(parts.append)
    render(file(home.app, FileRequest(PATH, all=True, **asked)), out)  # type: ignore[arg-type]
    out.flush()
    return b"".join(parts).decode()


def test_the_list_says_what_each_version_is_and_how_to_read_on(home: RecordHome) -> None:
    text = shown(home)
    assert text.splitlines()[0] == PATH
    assert "write" in text
    assert "unknown  partial" in text
    assert "does not apply" in text
    assert f"fabula record file '{PATH}' --show N" in text
    assert "fabula record thread" in text


def test_contents_and_differences_are_written_alone(home: RecordHome) -> None:
    assert shown(home, show=3) == "b\n"
    assert shown(home, diff=("1", "3")).splitlines()[-2:] == ["-a", "+b"]
    assert shown(home, diff=("1", "1")) == "the two versions are equal\n"
