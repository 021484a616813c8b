"""The reading verbs as a person and as a program call them."""

from __future__ import annotations

import os
import shlex
from base64 import b64decode
from collections.abc import Callable
from pathlib import Path

import pytest

from fabula.testing.outcome import Outcome
from fabula.testing.transcripts import ClaudeSession

Call = Callable[..., Outcome]


@pytest.fixture
def session(fabula: Call, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> ClaudeSession:
    """A session in the working directory, with a subagent, a retry and a file."""
    config = tmp_path / "claude"
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(config))
    session = ClaudeSession("cli", cwd=str(Path.cwd()))
    session.prompt("Why does the pivot fail?")
    (call,) = session.calls(("Task", {"description": "look", "prompt": "look"}))
    helper = ClaudeSession("cli", cwd=session.cwd, clock=session.clock, agent="a7", parent_session=session.id)
    helper.task("look")
    helper.tool("Write", {"file_path": f"{session.cwd}/a.md", "content": "x"}, "written")
    session.result(call, "seen", detail={"agentId": "a7", "status": "completed"})
    with session.abandoned():
        session.reply("given up")
    session.reply("It is off by one. \x1b[31mred")
    for each in (session, helper):
        each.save(config)
    return session


def test_a_thread_is_printed_with_its_sentinel_and_no_escape_sequence(fabula: Call, session: ClaudeSession) -> None:
    outcome = fabula("record", "thread", session.prompt_id[:8])
    assert outcome.status == 0
    assert outcome.out.startswith("<historical_context")
    assert "off by one" in outcome.out
    assert "\x1b" not in outcome.out
    assert fabula("record", "thread", session.prompt_id, "--no-sentinel").out.startswith("== thread")


def test_raw_records_and_blocks_are_exact_bytes(fabula: Call, session: ClaudeSession) -> None:
    lines = session.data().decode().splitlines()
    raw = fabula("record", "thread", session.prompt_id, "--raw").out
    assert raw.splitlines()[0] == lines[0]
    assert fabula("record", "block", session.records[0]["uuid"]).out == lines[0]


def test_a_block_as_json_carries_bytes_that_are_no_text(fabula: Call, session: ClaudeSession, tmp_path: Path) -> None:
    path = tmp_path / "claude" / session.relative_path()
    path.write_bytes(path.read_bytes().replace(b"pivot", b"p\xffvot"))
    data = fabula("record", "block", session.records[0]["uuid"], "--json").data
    assert data["encoding"] == "base64"
    assert b"p\xffvot" in b64decode(data["data"])
    assert data["fresh"]["fresh"] is True


def test_a_session_id_given_to_thread_lists_its_threads(fabula: Call, session: ClaudeSession) -> None:
    out = fabula("record", "thread", session.id).out
    assert "Why does the pivot fail?" in out
    assert "fabula record thread ID" in out


def test_sessions_and_session_say_what_there_is_and_where(fabula: Call, session: ClaudeSession) -> None:
    out = fabula("record", "sessions").out
    assert session.id in out
    assert "1 subagent" in out
    out = fabula("record", "session", session.id[:8]).out
    for words in ("1 thread\n", "subagents", "a7", f"{session.cwd}/a.md", "usage   claude-sonnet-4-6", "there, sealed"):
        assert words in out
    assert fabula("record", "session", session.id, "--json").data["session"]["id"] == session.id


def test_an_empty_project_points_to_the_others(
    fabula: Call, session: ClaudeSession, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert "--all" in fabula("record", "sessions").out
    assert "--all" in fabula("record", "timeline").out
    assert session.id in fabula("record", "sessions", "--all").out


def test_a_page_says_how_to_see_more(fabula: Call, session: ClaudeSession, tmp_path: Path) -> None:
    other = ClaudeSession("later", cwd=session.cwd, clock=session.clock)
    other.prompt("Another")
    other.save(tmp_path / "claude")
    assert "more: --offset 1" in fabula("record", "sessions", "--limit", "1").out


def test_a_page_beyond_the_last_one_does_not_say_that_there_is_nothing(fabula: Call, session: ClaudeSession) -> None:
    out = fabula("record", "sessions", "--offset", "5").out
    assert "1 session" in out
    assert "smaller --offset" in out
    out = fabula("record", "search", "pivot", "--offset", "5").out
    assert session.id not in out
    assert "nothing found" not in out


@pytest.mark.parametrize("verb", ["thread", "session", "similar", "export", "block", "pin"])
def test_an_empty_id_names_nothing(fabula: Call, session: ClaudeSession, verb: str) -> None:
    for blank in ("", " ", "\n"):
        outcome = fabula("record", verb, blank, "--json")
        assert (outcome.status, outcome.envelope["code"]) == (1, "ERR_NOT_FOUND")


def test_a_session_without_a_conversation_is_like_nothing(fabula: Call, session: ClaudeSession, tmp_path: Path) -> None:
    lonely = ClaudeSession("lonely", cwd=session.cwd, clock=session.clock)
    lonely.save(tmp_path / "claude").write_text('{"type":"summary","summary":"x","leafUuid":"y"}\n', encoding="utf-8")
    outcome = fabula("record", "similar", lonely.id, "--json")
    assert outcome.envelope["code"] == "ERR_NOT_FOUND"


def test_a_timeline_shows_days_and_threads(fabula: Call, session: ClaudeSession) -> None:
    out = fabula("record", "timeline").out
    assert "2026-03-02" in out
    assert "Why does the pivot fail?" in out
    assert fabula("record", "timeline", "--all", "--json").data["totals"]["threads"] == 1


def test_an_export_goes_to_standard_output_or_a_file(fabula: Call, session: ClaudeSession) -> None:
    assert fabula("record", "export", session.id).out.startswith("# Why does the pivot fail?")
    outcome = fabula("record", "export", session.id, "--format", "html", "--output", "out.html")
    assert "out.html: 1 thread," in outcome.out
    assert Path("out.html").read_text(encoding="utf-8").startswith("<!doctype html>")


def test_titles_and_pins_are_confirmed(fabula: Call, session: ClaudeSession) -> None:
    assert "is called Off by one" in fabula("record", "title", session.id, "Off", "by", "one").out
    assert "is pinned" in fabula("record", "pin", session.id).out
    assert "(as it was)" in fabula("record", "pin", session.id).out
    assert "★ Off by one" in fabula("record", "sessions").out
    assert "is not pinned" in fabula("record", "unpin", session.id).out
    assert "no title of yours" in fabula("record", "title", session.id, "").out


def test_resume_prints_the_command(fabula: Call, session: ClaudeSession) -> None:
    out = fabula("record", "resume", session.id, "--print").out
    assert out.startswith(f"cd {session.cwd} && CLAUDE_CONFIG_DIR=")
    assert out.rstrip().endswith(f"claude --resume {session.id}")


def test_resume_becomes_the_program_with_its_variables(
    fabula: Call, session: ClaudeSession, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "claude").write_text("#!/bin/sh\n", encoding="utf-8")
    (programs / "claude").chmod(0o755)
    monkeypatch.setenv("PATH", str(programs))
    ran: list[list[str]] = []
    monkeypatch.setattr(os, "execvp", lambda _, words: ran.append(list(words)))
    fabula("record", "resume", session.id)
    assert ran == [["env", f"CLAUDE_CONFIG_DIR={tmp_path / 'claude'}", "claude", "--resume", session.id]]


@pytest.mark.parametrize("verb", ["thread", "block", "session", "export", "resume", "pin"])
def test_an_id_of_nothing_is_told_with_what_to_do(fabula: Call, session: ClaudeSession, verb: str) -> None:
    outcome = fabula("record", verb, "0000ffff-0000-4000-a000-000000000000", "--json")
    assert outcome.status == 1
    assert outcome.envelope["code"] == "ERR_NOT_FOUND"
    assert outcome.envelope["suggestions"]


def test_the_command_that_resume_suggests_brings_the_transcript_back(
    fabula: Call, session: ClaudeSession, tmp_path: Path
) -> None:
    fabula("record", "sessions")
    path = tmp_path / "claude" / session.relative_path()
    before = path.read_bytes()
    path.unlink()
    out = fabula("record", "resume", session.id, "--print").out
    advice = next(line for line in out.splitlines() if "restore it first: " in line)
    words = shlex.split(advice.partition("restore it first: ")[2])
    assert words[0] == "fabula"
    assert fabula(*words[1:]).status == 0
    assert path.read_bytes() == before
    assert "restore it first" not in fabula("record", "resume", session.id, "--print").out
