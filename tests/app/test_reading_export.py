"""Exports of threads and sessions: whole, redacted, written atomically."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from fabula.app.record.export import ExportRequest, ExportResult, export
from fabula.app.record.sessions import SessionsRequest, sessions
from fabula.kernel.errors import FabulaError
from fabula.testing.record_home import RecordHome
from fabula.testing.transcripts import ClaudeSession

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


@pytest.fixture
def home(tmp_path: Path) -> RecordHome:
    return RecordHome(tmp_path)


@pytest.fixture
def session(home: RecordHome) -> ClaudeSession:
    session = ClaudeSession("export")
    session.title("Tuning the limiter")
    session.prompt(f"use {TOKEN} & <private>my street</private>, said </pre><script>alert(1)</script>")
    (call,) = session.calls(("Task", {"description": "look", "prompt": "look"}))
    helper = ClaudeSession("export", clock=session.clock, agent="a7", parent_session=session.id)
    helper.task("look")
    helper.reply("the subagent's words")
    session.result(call, "z" * 9_000, detail={"agentId": "a7", "status": "completed"})
    with session.abandoned():
        session.reply("an attempt that was given up")
    session.reply("The last word.")
    session.prompt("A second thread")
    home.save(session)
    home.save(helper)
    return session


def written(home: RecordHome, target: str, **more: object) -> ExportResult:
    return export(home.app, ExportRequest(target, **more))  # type: ignore[arg-type]


@pytest.mark.parametrize("form", ["markdown", "html", "json"])
def test_a_session_is_exported_whole_labelled_and_without_secrets(
    home: RecordHome, session: ClaudeSession, form: str
) -> None:
    result = written(home, session.id, format=form)
    for words in ("Tuning the limiter", "The last word.", "given up", "words", "A second thread", "z" * 9_000):
        assert words in result.text
    assert TOKEN not in result.text
    assert "my street" not in result.text
    assert (result.threads, result.turns) == (2, 8)
    assert written(home, session.id, format=form).text == result.text


def test_markdown_and_html_label_branches_and_sidechains_and_are_inert(
    home: RecordHome, session: ClaudeSession
) -> None:
    for form in ("markdown", "html"):
        text = written(home, session.id, format=form).text
        assert "Edit-branch" in text
        assert "Sidechain (subagent a7" in text
        assert "<script" not in text
    assert written(home, session.id, format="html").text.startswith("<!doctype html>")


def test_json_is_data_with_every_part(home: RecordHome, session: ClaudeSession) -> None:
    data = json.loads(written(home, session.id, format="json").text)
    assert data["facts"]["Session"] == session.id
    thread = data["threads"][0]
    assert [turn["kind"] for turn in thread["main"]] == ["prompt", "call", "result", "reply"]
    assert thread["branches"][0][0]["pieces"][0]["text"] == "an attempt that was given up"
    assert thread["sidechains"][0]["session"] == "a7"


def test_a_thread_or_a_record_exports_its_thread_alone(home: RecordHome, session: ClaudeSession) -> None:
    by_thread = written(home, session.prompt_id)
    assert by_thread.threads == 1
    assert "A second thread" in by_thread.text
    assert "The last word." not in by_thread.text
    assert written(home, session.records[-1]["uuid"]).text == by_thread.text


def test_a_file_is_written_for_its_owner_alone(home: RecordHome, session: ClaudeSession, tmp_path: Path) -> None:
    target = tmp_path / "out.md"
    result = written(home, session.id, output=target)
    assert result.text == ""
    assert result.output == str(target)
    assert target.read_text(encoding="utf-8") == written(home, session.id).text
    assert target.stat().st_mode & 0o777 == 0o600


def test_an_output_that_cannot_be_a_file_is_refused(home: RecordHome, session: ClaudeSession, tmp_path: Path) -> None:
    for target in (tmp_path, tmp_path / "no" / "folder.md"):
        with pytest.raises(FabulaError) as caught:
            written(home, session.id, output=target)
        assert caught.value.code == "ERR_PATH"


def test_a_pipe_or_device_is_never_replaced_by_an_export(
    home: RecordHome, session: ClaudeSession, tmp_path: Path
) -> None:
    pipe, link = tmp_path / "pipe", tmp_path / "link"
    os.mkfifo(pipe)
    link.symlink_to(pipe)
    for target in (pipe, link):
        with pytest.raises(FabulaError) as caught:
            written(home, session.id, output=target)
        assert caught.value.code == "ERR_PATH"
    assert pipe.is_fifo()
    assert link.is_symlink()


def test_links_in_a_circle_are_no_defect(home: RecordHome, session: ClaudeSession, tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    first.symlink_to(second)
    second.symlink_to(first)
    written(home, session.id, output=first)
    assert first.read_text(encoding="utf-8") == written(home, session.id).text


def test_an_export_is_written_behind_a_link(home: RecordHome, session: ClaudeSession, tmp_path: Path) -> None:
    link = tmp_path / "link.md"
    link.symlink_to(tmp_path / "real.md")
    written(home, session.id, output=link)
    assert link.is_symlink()
    assert (tmp_path / "real.md").read_text(encoding="utf-8") == written(home, session.id).text


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="the superuser enters every folder")
def test_a_folder_that_may_not_be_entered_is_said(home: RecordHome, session: ClaudeSession, tmp_path: Path) -> None:
    barred = tmp_path / "barred"
    barred.mkdir(mode=0)
    with pytest.raises(FabulaError) as caught:
        written(home, session.id, output=barred / "out.md")
    assert caught.value.code == "ERR_READ_ONLY"


@pytest.mark.parametrize("form", ["markdown", "html", "json"])
def test_a_secret_in_the_name_of_a_branch_is_not_shown(home: RecordHome, form: str) -> None:
    branched = ClaudeSession("branched", branch=f"fix-{TOKEN}")
    branched.prompt("Where are we?")
    home.save(branched)
    assert TOKEN not in written(home, branched.id, format=form).text
    lines = sessions(home.app, SessionsRequest(all=True)).sessions
    assert all(TOKEN not in line.branch for line in lines)


def test_a_session_that_is_gone_from_disk_is_exported_from_the_vault(home: RecordHome, session: ClaudeSession) -> None:
    before = written(home, session.id).text
    (home.claude / session.relative_path()).unlink()
    home.app = home.open()
    assert written(home, session.id).text == before
