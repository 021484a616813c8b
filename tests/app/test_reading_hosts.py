"""Every agent's sessions read alike: the bundled samples of six agents, and a database's rows."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import apsw
import pytest

from fabula.app.record.block import BlockRequest, block
from fabula.app.record.export import ExportRequest, export
from fabula.app.record.resume import ResumeRequest, resume
from fabula.app.record.sessions import SessionsRequest, sessions
from fabula.app.record.thread import ThreadRequest, thread
from fabula.kernel.ids import unpack_id
from fabula.testing.record_home import RecordHome

SAMPLES = Path(__file__).resolve().parents[1] / "data" / "samples" / "home"


@pytest.fixture(scope="module")
def samples(tmp_path_factory: pytest.TempPathFactory) -> RecordHome:
    folder = tmp_path_factory.mktemp("samples") / "home"
    shutil.copytree(SAMPLES, folder)
    home = RecordHome(folder)
    home.scan()
    return home


def test_every_agent_has_sessions(samples: RecordHome) -> None:
    found = sessions(samples.app, SessionsRequest(all=True, limit=100)).sessions
    assert {line.host for line in found} == {"claude", "codex", "gemini", "opencode", "copilot", "goose"}


def test_every_thread_of_the_samples_reads_without_a_loss(samples: RecordHome) -> None:
    for (uid,) in samples.rows("select uid from threads order by id"):
        result = thread(samples.app, ThreadRequest(unpack_id(uid)))
        assert result.unreadable == ()
        assert result.turns + result.branch_turns + result.sidechain_turns > 0
        assert thread(samples.app, ThreadRequest(unpack_id(uid), budget=300)).tokens <= 300 * 3 // 2 + 100


def test_every_record_of_the_samples_is_given_back_exactly(samples: RecordHome) -> None:
    files = {str(path): path.read_bytes() for path in samples.folder.rglob("*") if path.is_file()}
    for uid, path, offset, length in samples.rows(
        "select r.uid, f.path, r.offset, r.length from records r join files f on f.id = r.file_id"
    ):
        expected = files[path][offset : offset + length]
        assert block(samples.app, BlockRequest(unpack_id(uid))).to_bytes() == expected


def test_every_session_of_the_samples_can_be_exported(samples: RecordHome) -> None:
    for line in sessions(samples.app, SessionsRequest(all=True, limit=100)).sessions:
        for form in ("markdown", "html", "json"):
            result = export(samples.app, ExportRequest(line.id, format=form))  # type: ignore[arg-type]
            assert result.text
            assert result.unreadable == ()


def test_every_agents_sessions_have_their_command(samples: RecordHome) -> None:
    words = {
        line.host: resume(samples.app, ResumeRequest(line.id, print_only=True)).words[:2]
        for line in sessions(samples.app, SessionsRequest(all=True, limit=100)).sessions
        if line.kind == "main" and line.records > 1  # one session is known by its prompt alone
    }
    assert words == {
        "claude": ("claude", "--resume"),
        "codex": ("codex", "resume"),
        "gemini": ("gemini", "--resume"),
        "opencode": ("opencode", "--session"),
        "copilot": ("copilot", "--resume"),
        "goose": ("goose", "session"),
    }


def test_a_block_of_a_database_is_the_column_as_it_was_written(tmp_path: Path) -> None:
    home = RecordHome(tmp_path)
    path = tmp_path / ".local" / "share" / "opencode" / "opencode.db"
    path.parent.mkdir(parents=True)
    database = apsw.Connection(str(path))
    database.execute("""
        create table session(id text primary key, parent_id text, directory text, title text,
          time_created integer, time_updated integer);
        create table message(id text primary key, session_id text, time_created integer,
          time_updated integer, data text);
        create table part(id text primary key, message_id text, session_id text, time_created integer,
          time_updated integer, data text);
    """)
    written = '{ "type":"text",  "text":"why slow? é" }'
    database.execute("insert into session values('ses_1',null,'/home/ada/lib','Harbour',1772359200000,1772359200000)")
    database.execute(
        "insert into message values('msg_1','ses_1',1772359200001,1772359200001,?)", (json.dumps({"role": "user"}),)
    )
    database.execute("insert into part values('prt_1','msg_1','ses_1',1772359200002,1772359200002,?)", (written,))
    database.close()
    assert block(home.app, BlockRequest("prt_1")).to_bytes() == written.encode()
    result = thread(home.app, ThreadRequest("prt_1"))
    assert "why slow? é" in result.text
    command = resume(home.app, ResumeRequest("ses_1", print_only=True))
    assert command.words == ("opencode", "--session", "ses_1")
    assert "its transcript is gone" not in " ".join(command.notes)
