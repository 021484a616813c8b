"""Hosts that a person does not use are not even imported; the moment one appears it is read."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from fabula.app.record.search import SearchRequest, search
from fabula.app.unopened import Unopened
from fabula.testing.record_home import RecordHome
from fabula.testing.rollouts import CodexRollout
from fabula.testing.transcripts import ClaudeSession


@pytest.fixture
def record_home(tmp_path: Path) -> RecordHome:
    return RecordHome(tmp_path / "home")


def test_a_scan_imports_the_hosts_whose_folders_are_there(record_home: RecordHome) -> None:
    session = ClaudeSession("one")
    session.prompt("hello")
    record_home.save(session)
    code = f"""
import sys
from pathlib import Path
from fabula.app.record.search import SearchRequest, search
from fabula.app.wiring import App
from fabula.kernel.clock import SystemClock
home = Path({str(record_home.folder)!r})
app = App(environment={{"FABULA_HOME": str(home / "fabula")}}, cwd=home, user_home=home, clock=SystemClock())
assert search(app, SearchRequest("hello", all=True)).hits
hosts = {{name.split(".")[2] for name in sys.modules if name.startswith("fabula.hosts.") and name.endswith(".source")}}
assert hosts == {{"claude"}}, hosts
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_host_that_appears_later_is_read_by_the_same_process(record_home: RecordHome) -> None:
    session = ClaudeSession("one")
    session.prompt("hello")
    record_home.save(session)
    assert not search(record_home.app, SearchRequest("zigzag", all=True)).hits
    rollout = CodexRollout("two")
    rollout.begin()
    rollout.prompt("where does the zigzag parser wait")
    rollout.save(record_home.folder / ".codex")
    assert [hit.host for hit in search(record_home.app, SearchRequest("zigzag", all=True)).hits] == ["codex"]


class Real:
    host = "h"
    extra = 7

    def discover(self):  # type: ignore[no-untyped-def]
        yield from ("a", "b")

    def problems(self) -> list[tuple[str, str]]:
        return [("p", "why")]


def test_what_is_nowhere_is_not_made_until_it_is_asked_for(tmp_path: Path) -> None:
    made: list[Real] = []
    source = Unopened("h", [tmp_path / "home"], lambda: made.append(Real()) or made[0])  # type: ignore[arg-type, func-returns-value, return-value]
    assert (list(source.discover()), list(source.groups()), source.problems(), made) == ([], [], [], [])
    (tmp_path / "home").mkdir()
    assert list(source.discover()) == ["a", "b"]
    assert list(source.groups()) == [["a", "b"]]
    assert source.problems() == [("p", "why")]
    assert source.extra == 7
    assert len(made) == 1
    with pytest.raises(AttributeError):
        source.nothing_of_the_kind  # noqa: B018
