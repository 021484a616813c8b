"""``record cite`` and ``record cited`` as a person and an agent call them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from fabula.testing.outcome import Outcome
from fabula.testing.transcripts import ClaudeSession


@pytest.fixture
def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ClaudeSession:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    session = ClaudeSession("cite-verb")
    session.prompt("look at the tides\nand say when")
    session.save(tmp_path / "claude")
    return session


def test_what_cite_prints_leads_cited_back(fabula: Callable[..., Outcome], session: ClaudeSession) -> None:
    uid = str(session.records[0]["uuid"])
    done = fabula("record", "cite", uid[:12], "--quote", "the tides\nand")
    assert done.status == 0
    lines = done.out.splitlines()
    assert lines[:2] == ["> the tides", "> and"]
    assert lines[2].startswith(f"— claude, session {session.id}, 2026-03-02T")
    record, digest = lines[3].split()
    assert record == uid
    shown = fabula("record", "cited", record, digest, "--quote", "the tides\nand")
    assert "look at the tides\nand say when" in shown.out
    assert "prompt of claude" in shown.out
    data = fabula("record", "cited", lines[3], "--quote", "the tides\nand", "--json").data
    assert (data["state"], data["before"], data["after"]) == ("found", "look at ", " say when")
    assert data["citation"]["session"] == session.id


def test_a_wrong_quote_ends_with_one_and_an_error_in_the_envelope(
    fabula: Callable[..., Outcome], session: ClaudeSession
) -> None:
    uid = str(session.records[0]["uuid"])
    done = fabula("record", "cite", uid, "--quote", "look at the ties", "--json")
    assert done.status == 1
    envelope = json.loads(done.out)
    assert envelope["code"] == "ERR_QUOTE"
    assert "'look at the tides'" in envelope["suggestions"][0]


@pytest.mark.parametrize("words", [("x",), ("x", "sha256:00"), ("x", "y", "z")])
def test_what_is_no_reference_is_a_wrong_call(
    fabula: Callable[..., Outcome], session: ClaudeSession, words: tuple[str, ...]
) -> None:
    assert fabula("record", "cited", *words).status == 2


def test_a_record_that_is_not_here_is_missing(fabula: Callable[..., Outcome], session: ClaudeSession) -> None:
    done = fabula("record", "cited", "nosuch", f"sha256:{'0' * 64}")
    assert done.status == 0
    assert done.out.startswith("missing: nosuch")
