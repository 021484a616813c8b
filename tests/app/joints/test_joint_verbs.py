"""``recall``, ``memory links`` and ``memory sources`` as a person and an agent call them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from fabula.testing.outcome import Outcome
from fabula.testing.transcripts import ClaudeSession

Cli = Callable[..., Outcome]


@pytest.fixture
def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ClaudeSession:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    session = ClaudeSession("joint-verbs", cwd=str(tmp_path / "work"))
    session.prompt("When does the harbor dredger run?")
    session.reply("The dredger runs at low tide on Tuesdays.")
    session.save(tmp_path / "claude")
    return session


def written(fabula: Cli, session: ClaudeSession) -> str:
    """Write a memory that cites the session; return its path."""
    assert fabula("init").status == 0
    fabula("record", "scan")
    done = fabula(
        "memory", "write", "--title", "Dredger", "--type", "semantic", "--claim", "The dredger runs on Tuesdays.",
        "--cite", str(session.records[1]["uuid"])[:12], "--quote", "runs at low tide",
        "--session", session.id, "--json",
    )  # fmt: skip
    return str(done.data["path"])


def test_a_fact_goes_from_a_transcript_into_a_memory_and_back_to_its_words(
    fabula: Cli, session: ClaudeSession, tmp_path: Path
) -> None:
    path = written(fabula, session)
    recalled = fabula("recall", "harbor", "dredger", "--session", "s-asking", "--json").data
    assert [one["path"] for one in recalled["memories"]] == [path]
    assert recalled["text"].startswith("<historical_context ")
    assert recalled["tokens"] <= recalled["budget"]
    assert [one["session"] for one in recalled["passages"]] == [session.id, session.id]
    for file in (tmp_path / "claude").rglob("*.jsonl"):
        file.unlink()
    found = fabula("memory", "sources", "dredger", "--used-by", "--json").data
    (source,) = found["sources"]
    assert (source["state"], source["origin"], source["citation"]["quote"]) == ("found", "vault", "runs at low tide")
    assert [(one["id"], one["session"]) for one in found["packs"]] == [(recalled["pack"], "s-asking")]
    text = fabula("memory", "sources", path, "--used-by").out
    assert "> runs at low tide" in text
    assert "which the agent no longer has" in text
    assert "handed out in 1 pack on this machine" in text


def test_what_a_session_did_is_told_by_memory_and_record(fabula: Cli, session: ClaudeSession) -> None:
    path = written(fabula, session)
    fabula("memory", "read", path, "--session", session.id)
    fabula("memory", "reinforce", path, "--signal", "positive", "--session", session.id)
    links = fabula("memory", "links", session.id[:8], "--json").data
    assert [one["action"] for one in links["memories"]] == ["wrote", "read", "positive"]
    assert "positive  Dredger" in fabula("memory", "links", session.id).out
    text = fabula("record", "session", session.id).out
    assert "memories" in text
    assert text.count(path) == 3
    assert fabula("memory", "links", "nobody").out.startswith("no memory knows of session nobody")


def test_a_quote_that_is_not_there_writes_no_memory(fabula: Cli, session: ClaudeSession) -> None:
    assert fabula("init").status == 0
    fabula("record", "scan")
    done = fabula(
        "memory", "write", "--title", "Dredger", "--type", "semantic", "--claim", "It runs on Mondays.",
        "--cite", str(session.records[1]["uuid"]), "--quote", "runs on Mondays", "--json",
    )  # fmt: skip
    assert (done.status, json.loads(done.out)["code"]) == (1, "ERR_QUOTE")
    assert fabula("memory", "list", "--json").data["total"] == 0


@pytest.mark.parametrize("words", [("recall", "tide"), ("memory", "links", "s"), ("memory", "sources", "a")])
def test_where_fabula_is_off_nothing_is_recalled(
    fabula: Cli, session: ClaudeSession, words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    written(fabula, session)
    monkeypatch.setenv("FABULA_DISABLE", "1")
    done = fabula(*words, "--json")
    assert json.loads(done.out)["code"] == "ERR_DISABLED"


def test_with_neither_memory_nor_record_the_error_says_how_to_begin(
    fabula: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "none"))
    done = fabula("recall", "tide")
    assert "Traceback" not in done.err
    assert done.status in (0, 1)
    assert fabula("memory", "links", "s", "--json").status == 1
    assert not (tmp_path / "fabula-home/memory").exists()


@pytest.mark.parametrize(
    ("words", "status"),
    [
        (("recall",), 2),
        (("recall", "tide", "--budget", "10"), 2),
        (("recall", "since:whenever"), 2),
        (("recall", "tide", "--corpus", "nowhere"), 1),
        (("memory", "sources", "../../etc/passwd"), 2),
        (("memory", "sources", "areas/inbox/nothing.html"), 1),
    ],
)
def test_wrong_calls_end_with_their_status_and_no_traceback(
    fabula: Cli, session: ClaudeSession, words: tuple[str, ...], status: int
) -> None:
    written(fabula, session)
    done = fabula(*words)
    assert done.status == status, done.err
    assert "Traceback" not in done.err
