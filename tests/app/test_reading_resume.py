"""Resuming prints or becomes the one command that opens the session, and says what stands in the way."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

import pytest

from fabula.app.record.resume import ResumeRequest, ResumeResult, resume
from fabula.app.wiring import App
from fabula.kernel.errors import FabulaError
from fabula.testing.record_home import RecordHome
from fabula.testing.rollouts import CodexRollout
from fabula.testing.transcripts import ClaudeSession


@pytest.fixture
def home(tmp_path: Path) -> RecordHome:
    """A home with ``claude`` on its PATH."""
    home = RecordHome(tmp_path)
    home.app = with_programs(home, "claude", "codex")
    return home


def with_programs(home: RecordHome, *names: str) -> App:
    programs = home.folder / "bin"
    programs.mkdir(exist_ok=True)
    for name in names:
        (programs / name).write_text("#!/bin/sh\n", encoding="utf-8")
        (programs / name).chmod(0o755)
    app = home.open()
    app.environment = {**app.environment, "PATH": str(programs)}
    return app


def saved(home: RecordHome, cwd: Path | None = None) -> ClaudeSession:
    folder = cwd or home.folder / "it's work"
    folder.mkdir(exist_ok=True)
    session = ClaudeSession("resume", cwd=str(folder))
    session.prompt("Go on")
    home.save(session)
    return session


def asked(home: RecordHome, target: str, *, print_only: bool = False) -> ResumeResult:
    return resume(home.app, ResumeRequest(target, print_only))


def test_the_command_opens_the_session_in_its_folder(home: RecordHome) -> None:
    session = saved(home)
    result = asked(home, session.id)
    assert result.words == ("claude", "--resume", session.id)
    assert result.shell == f"cd {shlex.quote(session.cwd)} && claude --resume {session.id}"
    assert (result.environment, result.notes) == ({}, ())
    assert asked(home, session.prompt_id).shell == result.shell
    assert asked(home, session.records[0]["uuid"][:10]).shell == result.shell


def test_codex_has_its_own_words(home: RecordHome) -> None:
    rollout = CodexRollout("resume", cwd=str(home.folder))
    rollout.begin()
    rollout.prompt("Go on")
    rollout.save(home.folder / ".codex")
    assert asked(home, rollout.id).words == ("codex", "resume", rollout.id)


def test_a_session_of_another_root_is_opened_with_that_root(home: RecordHome, tmp_path: Path) -> None:
    session = saved(home)
    other = tmp_path / "elsewhere"
    (home.claude / "projects").rename(tmp_path / "projects")
    other.mkdir()
    (tmp_path / "projects").rename(other / "projects")
    home.app.environment = {**home.app.environment, "CLAUDE_CONFIG_DIR": str(other)}
    result = asked(home, session.id)
    assert result.environment == {"CLAUDE_CONFIG_DIR": str(other)}
    assert f"CLAUDE_CONFIG_DIR={other} claude" in result.shell


def test_a_subagent_opens_the_session_that_started_it(home: RecordHome) -> None:
    session = saved(home)
    helper = ClaudeSession("resume", cwd=session.cwd, clock=session.clock, agent="a7", parent_session=session.id)
    helper.task("look")
    home.save(helper)
    result = asked(home, "a7")
    assert result.session == session.id
    assert "subagent" in result.notes[0]


def test_a_missing_program_is_an_error_only_when_it_should_run(home: RecordHome) -> None:
    session = saved(home)
    home.app.environment = {**home.app.environment, "PATH": str(home.folder / "nowhere")}
    with pytest.raises(FabulaError) as caught:
        asked(home, session.id)
    assert caught.value.code == "ERR_CLIENT_MISSING"
    assert asked(home, session.id, print_only=True).words[0] == "claude"


def test_a_lost_transcript_must_be_restored_first(home: RecordHome) -> None:
    session = saved(home)
    asked(home, session.id)
    path = home.claude / session.relative_path()
    path.unlink()
    home.app = with_programs(home, "claude")
    with pytest.raises(FabulaError) as caught:
        asked(home, session.id)
    assert caught.value.code == "ERR_STALE"
    assert caught.value.suggestions == (f"fabula record restore {session.id} --output {shlex.quote(str(path))}",)
    assert caught.value.suggestions[0] in asked(home, session.id, print_only=True).notes[0]


def test_a_lost_folder_is_said(home: RecordHome) -> None:
    session = saved(home)
    Path(session.cwd).rmdir()
    with pytest.raises(FabulaError) as caught:
        asked(home, session.id)
    assert caught.value.code == "ERR_PATH"
    assert "folder is gone" in asked(home, session.id, print_only=True).notes[0]


def test_a_session_of_which_only_prompts_are_known_cannot_be_opened(home: RecordHome) -> None:
    session = "0d9c6f64-0000-4000-a000-00000000abcd"
    line = f'{{"display":"fix it","timestamp":1767225600000,"project":"/p","sessionId":"{session}"}}\n'
    home.write("history.jsonl", line.encode())
    with pytest.raises(FabulaError) as caught:
        asked(home, "0d9c6f64", print_only=True)
    assert caught.value.code == "ERR_NOT_FOUND"
    assert "only the prompts" in caught.value.message


def test_an_id_that_could_be_read_as_an_option_is_refused(home: RecordHome) -> None:
    session = saved(home)
    data = session.data().replace(session.id.encode(), b"--dangerously")
    home.write("projects/p/--dangerously.jsonl", data)
    with pytest.raises(FabulaError) as caught:
        asked(home, "--dangerously", print_only=True)
    assert caught.value.code == "ERR_NOT_FOUND"


def test_the_renderer_prints_or_becomes_the_program(
    home: RecordHome, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from fabula.cli.output import Out
    from fabula.cli.render.resume import render

    session = saved(home)
    ran: list[tuple[str, list[str], str]] = []
    monkeypatch.setattr(os, "execvp", lambda name, words: ran.append((name, list(words), str(Path.cwd()))))
    monkeypatch.chdir(tmp_path)
    written: list[bytes] = []
    render(asked(home, session.id, print_only=True), Out(written.append))
    assert ran == []
    out = Out(written.append)
    render(asked(home, session.id), out)
    assert ran == [("claude", ["claude", "--resume", session.id], session.cwd)]
