"""``--cite RECORD --quote WORDS``: a memory rests on what the record says, or is not written."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from fabula.testing.outcome import Outcome
from fabula.testing.transcripts import ClaudeSession

Fabula = Callable[..., Outcome]
CLAIM = ("memory", "write", "--type", "semantic", "--claim", "The tides come twice.")


@pytest.fixture
def talk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ClaudeSession:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    talk = ClaudeSession("tides")
    talk.prompt("look at the tides\nand say when")
    talk.reply("They come twice a day, at six & at seven.")
    talk.save(tmp_path / "claude")
    return talk


def records(talk: ClaudeSession) -> tuple[str, str]:
    first, second = (str(record["uuid"]) for record in talk.records[:2])
    return first, second


def test_two_records_each_have_their_words_and_lead_back(fabula: Fabula, corpus: Path, talk: ClaudeSession) -> None:
    asked, answered = records(talk)
    done = fabula(
        *CLAIM, "--cite", asked, "--quote", "the tides\nand", "--cite", answered, "--quote", "six & at", "--json"
    )
    assert done.status == 0, done.out
    page = (corpus / done.data["path"]).read_text("utf-8")
    assert f'<meta name="fabula-cite" content="{asked} sha256:' in page
    found = fabula("memory", "sources", done.data["path"], "--json").data["sources"]
    assert [(one["state"], one["citation"]["record"], one["citation"]["quote"]) for one in found] == [
        ("found", asked, "the tides\nand"),
        ("found", answered, "six & at"),
    ]


def test_several_quotes_of_one_record_and_a_record_as_a_whole(
    fabula: Fabula, corpus: Path, talk: ClaudeSession
) -> None:
    _, answered = records(talk)
    words = ("--cite", answered, "--quote", "twice a day", "--quote", "at six", "--facet", "place=harbour")
    both = fabula(*CLAIM, *words, "--json").data
    quotes = [one["citation"]["quote"] for one in fabula("memory", "sources", both["path"], "--json").data["sources"]]
    assert quotes == ["twice a day", "at six"]
    assert fabula("memory", "read", both["path"], "--json").data["facets"] == {"place": ["harbour"]}
    whole = fabula("memory", "write", "--type", "semantic", "--claim", "Asked.", "--cite", answered[:13], "--json").data
    (source,) = fabula("memory", "sources", whole["path"], "--json").data["sources"]
    assert (source["state"], source["citation"]["record"], source["citation"]["quote"]) == ("found", answered, "")


def test_words_that_are_not_there_are_no_memory(fabula: Fabula, corpus: Path, talk: ClaudeSession) -> None:
    asked, answered = records(talk)
    before = subprocess.run(["git", "-C", corpus, "rev-parse", "HEAD"], check=True, capture_output=True).stdout
    for words, code in (
        (("--cite", answered, "--quote", "thrice a day"), "ERR_QUOTE"),
        (("--cite", "nosuch"), "ERR_NOT_FOUND"),
        (("--cite", asked, "--cite", answered, "--quote", "a", "--quote", "b", "--quote", "c"), "ERR_USAGE"),
    ):
        assert fabula(*CLAIM, *words, "--json").envelope["code"] == code
    after = subprocess.run(["git", "-C", corpus, "rev-parse", "HEAD"], check=True, capture_output=True).stdout
    assert after == before


def test_a_correction_may_cite_and_the_session_is_linked(fabula: Fabula, corpus: Path, talk: ClaudeSession) -> None:
    _, answered = records(talk)
    path = fabula(*CLAIM, "--session", talk.id, "--json").data["path"]
    words = ("--claim", "They come at six.", "--cite", answered, "--quote", "at six", "--session", talk.id)
    done = fabula("memory", "correct", path, *words, "--json").data
    (source,) = fabula("memory", "sources", done["path"], "--json").data["sources"]
    assert source["state"] == "found"
    actions = {one["action"] for one in fabula("memory", "links", talk.id, "--json").data["memories"]}
    assert {"wrote", "corrected"} <= actions
