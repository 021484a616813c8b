"""Keys at a terminal: typed passphrases, shown keys, and what is never asked."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("nacl")

from fabula.testing.record_home import RecordHome
from fabula.testing.terminal import Shown, on_terminal
from fabula.testing.transcripts import ClaudeSession

FIRST, SECOND = "a long passphrase", "another long one"
KEY = re.compile(r"\b[0-9a-f]{64}\b")


@pytest.fixture
def home(tmp_path: Path) -> RecordHome:
    """A record of one session."""
    home = RecordHome(tmp_path)
    session = ClaudeSession("one")
    session.prompt("Where is the zyxquorvane kept?")
    home.save(session)
    home.scan()
    home.app.record.close()
    return home


def run(home: RecordHome, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a command as an agent does: without a terminal."""
    return subprocess.run(
        [sys.executable, "-m", "fabula", *words],
        env={**os.environ, **home.app.environment}, capture_output=True, text=True, stdin=subprocess.DEVNULL,
        start_new_session=True, check=False,
    )  # fmt: skip


def typed(home: RecordHome, *words: str, first: tuple[str, str], then: list[tuple[str, str]] | None = None) -> Shown:
    environment = {**os.environ, **home.app.environment}
    command = [sys.executable, "-m", "fabula", *words]
    return on_terminal(command, environment, first[1], question=first[0], then=then or [])


def passphrase(words: str) -> list[tuple[str, str]]:
    return [("New passphrase", words), ("The same again", words)]


def given(home: RecordHome, words: str) -> None:
    """Let a program give the passphrase."""
    home.app.home.config.write_text(f"[record]\nkey_command = ['echo', '{words}']\n")


def test_a_passphrase_is_typed_twice_shown_nowhere_and_can_be_changed(home: RecordHome) -> None:
    done = typed(
        home, "vault", "encrypt", "--apply", "--passphrase", first=("Type ", "encrypt"), then=passphrase(FIRST)
    )
    assert done.status == 0, done
    assert FIRST not in done.terminal + done.output
    assert "ERR_KEY" in run(home, "record", "search", "zyxquorvane").stderr
    given(home, FIRST)
    assert "zyxquorvane" in run(home, "record", "search", "zyxquorvane", "--all").stdout
    ask, again = passphrase(SECOND)
    done = typed(home, "vault", "key", "--passphrase", first=ask, then=[again])
    assert done.status == 0, done
    assert "ERR_KEY" in run(home, "record", "sessions", "--all").stderr
    given(home, SECOND)
    assert run(home, "record", "sessions", "--all").returncode == 0


@pytest.mark.parametrize(("one", "two"), [("short", "short"), (FIRST, SECOND)])
def test_a_short_or_mistyped_passphrase_changes_nothing(home: RecordHome, one: str, two: str) -> None:
    then = [("New passphrase", one), ("The same again", two)]
    done = typed(home, "vault", "encrypt", "--apply", "--passphrase", first=("Type ", "encrypt"), then=then)
    assert "ERR_KEY" in done.output
    assert run(home, "record", "sessions", "--all").returncode == 0
    assert "not encrypted" in run(home, "vault", "key").stdout


def test_the_key_is_shown_at_the_terminal_of_a_person_alone(home: RecordHome) -> None:
    key = home.folder / "key"
    done = typed(home, "vault", "encrypt", "--apply", "--key-file", str(key), first=("Type ", "encrypt"))
    assert done.status == 0, done
    shown = typed(home, "vault", "key", "--show", first=("Type ", "show"))
    assert key.read_text().strip() in shown.terminal
    assert not KEY.search(shown.output)
    for answer in ("no", ""):
        assert not KEY.search(typed(home, "vault", "key", "--show", first=("Type ", answer)).terminal)
    agent = run(home, "vault", "key", "--show")
    assert "ERR_CONSENT" in agent.stderr
    assert not KEY.search(agent.stdout + agent.stderr)


def test_encrypting_needs_a_person_and_says_what_it_would_do(home: RecordHome) -> None:
    assert "nothing was changed" in run(home, "vault", "encrypt").stdout
    assert "ERR_CONSENT" in run(home, "vault", "encrypt", "--apply", "--key-file", str(home.folder / "key")).stderr
    assert not (home.folder / "key").exists()
    assert "not encrypted" in run(home, "vault", "decrypt", "--apply").stdout


def test_who_does_not_encrypt_loads_nothing_of_it(home: RecordHome) -> None:
    code = (
        "import sys; sys.argv = ['fabula', 'record', 'search', 'zyxquorvane', '--all']\n"
        "from fabula.__main__ import run\n"
        "try: run()\nexcept SystemExit: pass\n"
        "print([name for name in sys.modules if 'nacl' in name or 'cipher' in name or 'sealed_files' in name])"
    )
    environment = {**os.environ, **home.app.environment}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.rstrip().endswith("[]"), done.stdout
