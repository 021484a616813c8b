"""Copilot CLI, Goose and Cursor through whole scans: growth, logs of databases, locks, vanished sources, loading."""

from __future__ import annotations

import json

import apsw
import pytest

from fabula.app.record.block import BlockRequest, block
from fabula.app.record.restore import RestoreRequest, restore
from fabula.app.record.resume import ResumeRequest, resume
from fabula.app.record.search import SearchRequest, search
from fabula.app.record.sessions import SessionsRequest, sessions
from fabula.app.record.thread import ThreadRequest, thread
from fabula.kernel.ids import unpack_id
from fabula.record.map import schema
from fabula.record.map.files import file_by_id
from fabula.testing.copilot_session import CopilotSession
from fabula.testing.cursor_store import CursorStore
from fabula.testing.goose_database import GooseDatabase, answered, asked, said
from fabula.testing.record_home import RecordHome


@pytest.fixture
def home(tmp_path):
    return RecordHome(tmp_path / "home")


def copilot(home):
    made = CopilotSession("s", cwd=str(home.folder))
    made.begin()
    made.prompt("why does the zigzag stall")
    made.answer("I look.", made.call("bash", command="cat zebra.log"))
    made.result("quokka: not found\n<shellId: 0 completed with exit code 1>", exitCode=1)
    path = f"{home.folder}/zigzag.py"
    made.answer("", made.call("create", path=path, file_text="n = 1\n"))
    made.result("Created")
    made.answer("", made.call("edit", path=path, old_str="n = 1", new_str="n = 2"))
    made.result("Updated")
    made.answer("it waits for the narwhal")
    return made


def goose(home, key="20260301_1", *, ledger=True):
    made = GooseDatabase(home.folder / ".local/share/goose/sessions/sessions.db", ledger=ledger)
    made.session(key, folder=str(home.folder))
    made.message(key, "user", said("why does the zigzag stall"), key="m1")
    made.message(key, "assistant", said("I look."), asked("c1", "developer__shell", command="cat zebra.log"), key="m2")
    made.message(key, "user", answered("c1", "quokka: not found", code=1), key="m3")
    path = f"{home.folder}/zigzag.py"
    made.message(key, "assistant", asked("c2", "write", path=path, content="n = 1\n"), key="m4")
    made.message(key, "user", answered("c2", "Created"), key="m5")
    made.message(key, "assistant", asked("c3", "edit", path=path, before="n = 1", after="n = 2"), key="m6")
    made.message(key, "user", answered("c3", "Edited"), key="m7")
    made.message(key, "assistant", said("it waits for the narwhal"), key="m8")
    return made


def cursor(home):
    made = CursorStore(home.folder / ".cursor", folder=str(home.folder))
    made.user("why does the zigzag stall")
    path = f"{home.folder}/zigzag.py"
    for key, tool, arguments, answer in (
        ("t1", "Shell", {"command": "cat zebra.log"}, "Exit code: 1\n\nCommand output:\n\n```\nquokka: not found\n```"),
        ("t2", "Write", {"path": path, "contents": "n = 1\n"}, "Wrote"),
        ("t3", "StrReplace", {"path": path, "old_string": "n = 1", "new_string": "n = 2"}, "Replaced"),
    ):
        made.message("assistant", [{"type": "text", "text": "I look."}, made.call(key, tool, **arguments)])
        made.result(key, tool, answer, isError=False)
        made.checkpoint()
    made.message("assistant", [{"type": "text", "text": "it waits for the narwhal"}])
    made.checkpoint()
    return made


def saved_copilot(home):
    made = copilot(home)
    made.save(home.folder / ".copilot")
    return made


MAKERS = {"copilot": saved_copilot, "goose": goose, "cursor": cursor}


@pytest.fixture(params=MAKERS)
def host(request):
    return request.param


@pytest.fixture
def made(home, host):
    session = MAKERS[host](home)
    yield session
    if host != "copilot":
        session.close()


def records(home):
    return home.rows("select uid, kind, role, time, flags, thread_id is null from records order by uid")


def accounts(home):
    return [file_by_id(home.map, row) for (row,) in home.rows("select id from files where generation < 0")]


def test_a_session_is_found_read_and_replayed(home, host, made):
    home.scan()
    (line,) = sessions(home.app, SessionsRequest(all=True)).sessions
    assert (line.host, line.kind) == (host, "main")
    found = search(home.app, SearchRequest(f"host:{host} narwhal", all=True))
    assert [hit.host for hit in found.hits] == [host]
    assert search(home.app, SearchRequest("host:claude narwhal", all=True)).hits == ()
    (uid,) = home.rows("select uid from threads")[0]
    text = thread(home.app, ThreadRequest(unpack_id(uid)))
    assert text.unreadable == ()
    assert home.rows("select count(*) from failures where message like '%quokka%'") == [(1,)]
    touches = home.rows("select operation from touches order by record_id")
    assert len(touches) == 2
    words = resume(home.app, ResumeRequest(line.id, print_only=True)).words
    assert words[-1] == line.id


def test_a_files_history_is_replayed_from_the_edits_of_each_agent(home, made):
    from fabula.app.record.file import FileRequest, file

    home.scan()
    shown = file(home.app, FileRequest(str(home.folder / "zigzag.py"), show=2))
    assert shown.content == "n = 2\n"


def test_every_object_is_indexed_or_counted_and_every_byte_lies_in_a_span_or_a_gap(home, made):
    home.scan()
    for known in accounts(home):
        counts = known.accounting
        assert counts.objects == counts.indexed + sum(counts.skipped.values())
        assert counts.span_bytes + counts.gap_bytes + counts.unreadable_bytes == known.read_to > 0
        assert counts.unreadable_bytes == 0


def test_a_second_scan_reads_nothing_and_a_rebuilt_map_has_the_same_records(home, made):
    home.scan()
    before = records(home)
    assert home.scan().files_read == 0
    home.scan(rebuild=True)
    assert records(home) == before


def test_what_was_added_is_found_and_what_was_known_stays_itself(home, host, made):
    home.scan()
    before = records(home)
    if host == "copilot":
        made.prompt("and the walrus?")
        made.save(home.folder / ".copilot")
    elif host == "goose":
        made.message("20260301_1", "user", said("and the walrus?"), key="m9")
    else:
        made.user("and the walrus?")
        made.checkpoint()
    assert home.scan().files_read == 1
    assert home.found("walrus") == 1
    assert home.found("narwhal") == 1
    known = {row[0] for row in before}
    assert [row for row in records(home) if row[0] in known] == before
    assert len(records(home)) == len(before) + 1


def test_a_session_that_vanished_is_read_from_the_vault(home, host, made):
    home.scan()
    before = records(home)
    if host != "copilot":
        made.close()
    for path in [
        *home.folder.rglob("events.jsonl"),
        *home.folder.rglob("s*.db*"),
        *home.folder.rglob("workspace.yaml"),
    ]:
        path.unlink()
    home.scan()
    home.scan(rebuild=True)
    assert records(home) == before
    assert home.found("quokka") == 1


def test_a_block_is_what_the_host_wrote(home, host, made):
    home.scan()
    ((uid,),) = home.rows("select uid from records where kind=(select max(kind) from records where kind=0) limit 1")
    written = json.loads(block(home.app, BlockRequest(unpack_id(uid))).to_bytes())
    text = json.dumps(written)
    assert "zigzag" in text
    assert "content" in text if host != "goose" else isinstance(written, list)


def test_a_database_is_restored_row_by_row(home, host, made, tmp_path):
    if host == "copilot":
        return
    home.scan()
    table = "messages" if host == "goose" else "blobs"
    rows = set(made.connection.execute(f"select * from {table}"))
    made.close()
    for path in home.folder.rglob("s*.db*"):
        path.unlink()
    (line,) = sessions(home.app, SessionsRequest(all=True)).sessions
    restore(home.app, RestoreRequest(line.id, output=tmp_path / "again.db"))
    again = apsw.Connection(str(tmp_path / "again.db"))
    columns = [row[1] for row in made_columns(home, again, table)]
    order = ",".join(sorted(columns))
    assert len(set(again.execute(f"select {order} from {table}"))) == len(rows)
    again.close()


def made_columns(home, connection, table):
    return connection.execute(f"pragma table_info({table})").fetchall()


def test_a_locked_database_costs_no_neighbour_and_is_read_later(home, host, made, monkeypatch):
    if host == "copilot":
        return
    monkeypatch.setattr("fabula.record.containers.rows.BUSY_MILLISECONDS", 1)
    other = CopilotSession("other", cwd=str(home.folder))
    other.begin()
    other.prompt("ask the walrus")
    other.save(home.folder / ".copilot")
    path = made.path
    made.close()
    owner = apsw.Connection(str(path))
    owner.execute("pragma locking_mode=exclusive")
    owner.execute("create table held(x)")
    report = home.scan()
    assert home.found("walrus") == 1
    assert [problem for problem in report.problems if problem[0].startswith(str(path))]
    owner.close()
    assert home.rows("select count(*) from files where vanished_at is not null") == [(0,)]
    home.scan()
    assert home.found("narwhal") == 1
    reopened = apsw.Connection(str(path))
    assert reopened.execute("pragma integrity_check").fetchall() == [("ok",)]
    reopened.close()


def test_what_a_running_client_has_only_in_its_log_is_found(home, host, made):
    if host == "copilot":
        return
    assert (made.path.parent / f"{made.path.name}-wal").stat().st_size > 0
    before = sorted(path.name for path in made.path.parent.iterdir())
    home.scan()
    assert home.found("narwhal") == 1
    assert sorted(path.name for path in made.path.parent.iterdir()) == before


def test_a_copilot_subagent_is_listed_below_its_session(home):
    made = copilot(home)
    made.subagent("look deeper into the zebra", "deep")
    made.save(home.folder / ".copilot")
    home.scan()
    kinds = home.rows("select s.kind, p.kind from sessions s left join sessions p on p.id=s.parent_id order by s.kind")
    assert kinds == [("main", None), ("subagent", "main")]
    assert home.rows("select count(*) from threads") == [(1,)]
    assert home.rows(f"select count(*) from records where flags & {schema.PROVISIONAL}") == [(0,)]


def test_projects_that_are_off_stay_out_whatever_the_agent(home, host, made):
    config = home.folder / "fabula" / "config.toml"
    config.parent.mkdir(exist_ok=True)
    config.write_text(f"off_projects = [{json.dumps(str(home.folder))}]\n")
    home.app = home.open()
    home.scan()
    assert home.rows("select count(*) from records") == [(0,)]


def test_a_copilot_log_scanned_line_by_line_gives_the_same_records_as_one_scanned_whole(tmp_path):
    whole, growing = RecordHome(tmp_path / "whole"), RecordHome(tmp_path / "growing")
    made = copilot(whole)
    made.subagent("look deeper into the zebra", "deep")
    made.event("session.context_changed", cwd="/elsewhere", branch="dev")
    made.prompt("and the walrus?")
    made.answer("gone", thought="Hm.")
    made.shutdown()
    data = made.save(whole.folder / ".copilot").read_bytes()
    whole.scan()
    path = made.save(growing.folder / ".copilot")
    lines = data.splitlines(keepends=True)
    for count in range(len(lines) + 1):
        path.write_bytes(b"".join(lines[:count]) + (lines[count][:20] if count < len(lines) else b""))
        growing.scan()
    assert records(growing) == records(whole)
    assert growing.rows("select session_id, input, output from responses order by key") == whole.rows(
        "select session_id, input, output from responses order by key"
    )


def test_a_conversation_that_a_compaction_wrote_anew_is_told_once(home):
    owner = goose(home)
    home.scan()
    before = records(home)
    rows = owner.connection.execute("select message_id, role, content_json from messages order by id").fetchall()
    owner.connection.execute("delete from messages")
    for key, role, content in rows:
        owner.message("20260301_1", role, *json.loads(content), key=key, agentVisible=False)
    owner.message("20260301_1", "user", said("So far: the zigzag stalls."), key="m9", userVisible=False)
    home.scan()
    known = {row[0] for row in before}
    assert {row[0] for row in records(home)} - known
    assert [row[0] for row in records(home) if row[0] in known] == [row[0] for row in before]
    assert home.found("quokka") == 1
    owner.close()
