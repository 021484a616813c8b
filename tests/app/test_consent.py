"""A person's consent: a word at a controlling terminal, and nothing else."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from fabula.testing.record_home import RecordHome
from fabula.testing.terminal import on_terminal
from fabula.testing.transcripts import ClaudeSession

if TYPE_CHECKING:
    from pathlib import Path

ASK = (
    "from fabula.app.consent import require_consent as ask; ask(['All of \\x1b[31mit\\x07 goes.'], 'gone', 'it'); "
    "print('agreed')"
)


@pytest.mark.parametrize(
    ("answer", "agreed"), [("gone", True), ("  gone  ", True), ("Gone", False), ("y", False), ("", False)]
)
def test_the_word_alone_is_consent(answer: str, *, agreed: bool) -> None:
    done = on_terminal([sys.executable, "-c", ASK], os.environ, answer)
    assert ("agreed" in done.output) is agreed
    assert "Type gone to go on" in done.terminal
    assert "\x1b" not in done.terminal
    assert ("ERR_CONSENT" in done.output or "was not typed" in done.output) is not agreed


def test_without_a_terminal_there_is_no_consent_whatever_is_piped_in() -> None:
    done = subprocess.run(
        [sys.executable, "-c", ASK], input=b"gone\n", capture_output=True, check=False, start_new_session=True
    )
    assert b"agreed" not in done.stdout
    assert b"consent of a person" in done.stderr


def test_a_process_in_the_background_does_not_ask() -> None:
    code = f"import os\nif os.fork() == 0:\n os.setpgid(0, 0)\n {ASK.replace('; ', chr(10) + ' ')}\nelse: os.wait()"
    done = on_terminal([sys.executable, "-c", code], os.environ, "gone")
    assert "agreed" not in done.output
    assert "background" in done.output


@pytest.fixture
def home(tmp_path: Path) -> RecordHome:
    """A record of one session."""
    home = RecordHome(tmp_path)
    session = ClaudeSession("one")
    session.prompt("Zyxquorvane is to be forgotten")
    home.save(session)
    home.scan()
    home.app.record.close()
    return home


def forgetting(home: RecordHome, *words: str) -> list[str]:
    return [sys.executable, "-m", "fabula", "record", "forget", ClaudeSession("one").id, *words]


def test_forgetting_asks_at_the_terminal_and_does_it(home: RecordHome) -> None:
    done = on_terminal(forgetting(home, "--apply"), {**os.environ, **home.app.environment}, "forget")
    assert done.status == 0, done
    assert "1 record" in done.terminal
    assert "forgotten" in done.output
    assert home.open().record.scan().records_added == 0


@pytest.mark.parametrize("words", [("--apply",), ("--apply", "--json")])
def test_an_agent_cannot_forget(home: RecordHome, words: tuple[str, ...]) -> None:
    done = subprocess.run(
        forgetting(home, *words), input=b"forget\n", capture_output=True, check=False, start_new_session=True,
        env={**os.environ, **home.app.environment},
    )  # fmt: skip
    assert done.returncode == 3
    assert b"ERR_CONSENT" in done.stdout + done.stderr
    home.app = home.open()
    assert home.rows("select count(*) from records") == [(1,)]
