"""A session that is in use is not rewritten behind the back of its agent."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from rewriting_builders import at_rest, session_with_bulk, slim_results

from fabula.app.record.rewriting import find_target, rewrite
from fabula.hosts.claude.running import process_of
from fabula.kernel.errors import FabulaError
from fabula.testing.record_home import RecordHome
from fabula.testing.transcripts import ClaudeSession


@pytest.fixture
def session() -> ClaudeSession:
    return session_with_bulk("live")


@pytest.fixture
def path(record_home: RecordHome, session: ClaudeSession) -> Path:
    return at_rest(record_home.save(session))


def refused(home: RecordHome, path: Path, *, live: bool = False) -> str:
    before = path.read_bytes()
    with pytest.raises(FabulaError) as error:
        rewrite(home.app, find_target(home.app, str(path)), slim_results, kind="prune", live=live)
    assert error.value.code == "ERR_LIVE"
    assert error.value.exit == 3
    assert path.read_bytes() == before
    return error.value.message


def accepted(home: RecordHome, path: Path, *, live: bool = False) -> bool:
    done = rewrite(home.app, find_target(home.app, str(path)), slim_results, kind="prune", live=live)
    return done.new is not None


@pytest.mark.parametrize("age", [0, 30, -3600])
def test_a_transcript_that_was_just_written_is_left_alone(record_home: RecordHome, path: Path, age: int) -> None:
    now = record_home.clock.now_ms() / 1000
    os.utime(path, (now - age, now - age))
    assert "seconds ago" in refused(record_home, path)
    assert accepted(record_home, path, live=True)


def registered(home: RecordHome, session: str, pid: int, **more: Any) -> None:
    folder = home.claude / "sessions"
    folder.mkdir(exist_ok=True)
    (folder / f"{pid}.json").write_text(json.dumps({"pid": pid, "sessionId": session, **more}))


def test_a_session_whose_agent_runs_is_left_alone(record_home: RecordHome, session: ClaudeSession, path: Path) -> None:
    registered(record_home, session.id, os.getpid())
    assert f"process {os.getpid()}" in refused(record_home, path)
    assert accepted(record_home, path, live=True)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="starts of processes are read on Linux")
def test_a_process_that_ended_or_whose_number_was_given_again_holds_nothing(
    record_home: RecordHome, session: ClaudeSession, path: Path
) -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    registered(record_home, session.id, ended.pid)
    registered(record_home, session.id, os.getpid(), procStart="1")
    registered(record_home, "another", os.getppid())
    (record_home.claude / "sessions" / "7.json").write_bytes(b"\xff[torn")
    (record_home.claude / "sessions" / "8.json").write_text('["no object"]')
    (record_home.claude / "sessions" / "9.json").write_text(json.dumps({"sessionId": session.id, "pid": "x"}))
    assert process_of(session.id, record_home.claude) is None
    start = Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19]
    registered(record_home, session.id, os.getpid(), procStart=start)
    assert process_of(session.id, record_home.claude) == os.getpid()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="open files are seen on Linux")
def test_a_file_that_a_process_has_open_for_writing_is_left_alone_whatever_a_person_says(
    record_home: RecordHome, path: Path
) -> None:
    hold = "import sys; f = open(sys.argv[1], sys.argv[2]); print('open', flush=True); sys.stdin.read()"
    for mode in ("a", "r"):
        with subprocess.Popen(
            [sys.executable, "-c", hold, str(path), mode], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        ) as holder:
            assert holder.stdout is not None
            holder.stdout.readline()
            if mode == "a":
                assert f"process {holder.pid}" in refused(record_home, path, live=True)
            else:
                assert accepted(record_home, path)
            assert holder.stdin is not None
            holder.stdin.close()
