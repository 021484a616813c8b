"""The verb ``record failures`` on a whole record."""

from __future__ import annotations

from pathlib import Path

import pytest

from fabula.app.record.failures import FailuresRequest, FailuresResult, failures
from fabula.testing.record_home import RecordHome
from fabula.testing.transcripts import ClaudeSession

TRACE = """Traceback (most recent call last):
  File "/home/mira/code/harbor/run.py", line 3, in <module>
    import yaml
ModuleNotFoundError: No module named 'yaml'"""


@pytest.fixture
def home(tmp_path: Path) -> RecordHome:
    return RecordHome(tmp_path / "home")


def find(home: RecordHome, text: str = "", **asked: object) -> FailuresResult:
    return failures(home.app, FailuresRequest(text, all=True, **asked))  # type: ignore[arg-type]


def solved(seed: str) -> ClaudeSession:
    session = ClaudeSession(seed)
    session.prompt("run it")
    session.tool("Bash", {"command": "python run.py"}, "Exit code 1\n" + TRACE, failed=True)
    session.tool("Read", {"file_path": "/home/mira/code/harbor/run.py"}, "     1\timport yaml")
    session.tool("Bash", {"command": "pip install pyyaml"}, "installed")
    session.reply("The parser was missing.")
    session.tool("Bash", {"command": "python run.py"}, "done")
    return session


def test_the_same_error_brings_back_what_solved_it(home: RecordHome) -> None:
    session = solved("solved")
    home.save(session)
    elsewhere = TRACE.replace("/home/mira/code/harbor", "/srv/other").replace("line 3", "line 9")
    result = find(home, elsewhere)
    (found,) = result.occurrences
    assert found.match == 1
    assert found.message == "ModuleNotFoundError: No module named 'yaml'"
    assert found.resolution is not None
    assert [(step.kind, step.text) for step in found.resolution.steps] == [
        ("command", "pip install pyyaml"),
        ("words", "The parser was missing."),
        ("command", "python run.py"),
    ]
    assert found.read_on == f"fabula record thread {session.prompt_id}"
    assert (found.session, found.host, found.about) == (session.id, "claude", "$ python run.py")


def test_an_open_failure_is_told_as_open(home: RecordHome) -> None:
    session = ClaudeSession("open")
    session.prompt("run it")
    session.tool("Bash", {"command": "cargo build"}, "error[E0308]: mismatched types", failed=True)
    session.tool("Bash", {"command": "cargo test"}, "ok")
    home.save(session)
    (found,) = find(home, "error[E0308]: mismatched types").occurrences
    assert found.resolution is None


def test_resolved_occurrences_come_before_open_ones(home: RecordHome) -> None:
    later = ClaudeSession("later")
    later.clock.pause(days=9)
    later.prompt("again")
    later.tool("Bash", {"command": "python run.py"}, TRACE, failed=True)
    home.save(solved("first"))
    home.save(later)
    assert [one.resolution is not None for one in find(home, TRACE).occurrences] == [True, False]


def test_an_error_that_is_only_alike_says_how_much(home: RecordHome) -> None:
    home.save(solved("alike"))
    (found,) = find(home, "ModuleNotFoundError: No module named 'yaml.loader'").occurrences
    assert 0.5 <= found.match < 1


def test_an_error_that_was_never_met_finds_nothing(home: RecordHome) -> None:
    home.save(solved("never"))
    assert find(home, "segmentation fault (core dumped)").occurrences == ()


def test_without_a_text_the_most_frequent_errors_are_told(home: RecordHome) -> None:
    for seed in ("a", "b"):
        home.save(solved(seed))
    other = ClaudeSession("c")
    other.prompt("look")
    other.tool("Read", {"file_path": "/nowhere"}, "<tool_use_error>File does not exist.</tool_use_error>", failed=True)
    home.save(other)
    result = find(home)
    assert [(one.message, one.count, one.resolved, one.sessions) for one in result.frequent] == [
        ("ModuleNotFoundError: No module named 'yaml'", 2, 2, 2),
        ("File does not exist.", 1, 0, 1),
    ]
    assert len(result.occurrences) == 3
    assert find(home, since=1, limit=1).frequent[0].count == 2
    assert find(home, until=1).frequent == ()


def test_the_scope_is_this_repository_unless_asked(home: RecordHome) -> None:
    home.save(solved("scope"))
    assert failures(home.app, FailuresRequest(TRACE)).occurrences == ()
    assert len(find(home, TRACE).occurrences) == 1


def test_secrets_leave_what_is_told(home: RecordHome) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9" * 2
    session = ClaudeSession("secret")
    session.prompt("push")
    session.tool("Bash", {"command": "git push"}, f"fatal: bad token {secret}", failed=True)
    session.tool("Bash", {"command": f"export GITHUB_TOKEN={secret}"}, "")
    session.tool("Bash", {"command": "git push"}, "ok")
    home.save(session)
    result = find(home, f"fatal: bad token {secret}")
    assert len(result.occurrences) == 1
    assert result.occurrences[0].resolution is not None
    assert secret not in repr(result)


def test_an_error_inside_private_text_is_not_remembered(home: RecordHome) -> None:
    session = ClaudeSession("private")
    session.prompt("run it")
    session.tool(
        "Bash", {"command": "x"}, "<private>\nValueError: my street\n</private>\nOSError: no file", failed=True
    )
    session.tool("Bash", {"command": "y"}, "<private>\nValueError: my town\n</private>", failed=True)
    home.save(session)
    assert [one.message for one in find(home).occurrences] == ["OSError: no file"]
    stored = home.app.reader().execute("select group_concat(signature || message || subject) from failures").fetchone()
    assert stored is not None
    assert "my " not in str(stored[0])
