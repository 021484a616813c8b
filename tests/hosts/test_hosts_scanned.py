"""Codex, Gemini CLI and OpenCode through whole scans: growth, rewriting, compression, rewinds, loading back."""

from __future__ import annotations

import json
import os
import sys

import apsw
import pytest

from fabula.app.record.restore import RestoreRequest, restore
from fabula.record.map import schema
from fabula.record.map.files import file_by_id
from fabula.testing.opencode_database import OpenCodeDatabase
from fabula.testing.record_home import RecordHome
from fabula.testing.rollouts import CodexRollout, GeminiChat

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd


@pytest.fixture
def home(tmp_path):
    return RecordHome(tmp_path / "home")


def rollout():
    made = CodexRollout("s")
    made.begin()
    made.prompt("why does the zigzag stall")
    made.shell("cat zebra.log", "quokka", code=1)
    made.reply("it waits for the narwhal")
    return made


def records(home):
    return home.rows("select uid, kind, role, time, flags, thread_id is null from records order by uid")


def accounting(home):
    """Return (bytes read, accounting) of each live file."""
    rows = home.rows("select id from files where generation=-1")
    files = [file_by_id(home.map, row[0]) for row in rows]
    return [(file.read_to, file.accounting) for file in files if file is not None]


def load_all(home):
    loader = home.app.loader()
    return loader.load(loader.rows("1", ()))


def test_a_rollout_scanned_line_by_line_gives_the_same_records_as_one_scanned_whole(tmp_path):
    whole, growing = RecordHome(tmp_path / "whole"), RecordHome(tmp_path / "growing")
    made = rollout()
    made.prompt("and now?")
    made.reply("it runs")
    made.save(whole.folder / ".codex")
    whole.scan()
    path = made.save(growing.folder / ".codex")
    lines = made.data().splitlines(keepends=True)
    for count in range(len(lines) + 1):
        path.write_bytes(b"".join(lines[:count]) + (lines[count][:20] if count < len(lines) else b""))
        growing.scan()
    assert records(growing) == records(whole)
    assert accounting(growing) == accounting(whole)
    assert [one.record for one in load_all(growing)] == [one.record for one in load_all(whole)]


def test_every_byte_of_every_file_is_a_value_a_gap_or_unreadable(home):
    rollout().save(home.folder / ".codex")
    chat = GeminiChat("g", cwd=str(home.folder))
    chat.prompt("hello")
    chat.save(home.folder / ".gemini")
    home.scan()
    assert len(accounting(home)) == 2
    for size, told in accounting(home):
        assert told.span_bytes + told.gap_bytes + told.unreadable_bytes == size
        assert told.objects == told.indexed + sum(told.skipped.values())


def test_a_compressed_rollout_is_searched_and_its_records_come_from_the_vault(home):
    made = rollout()
    path = made.save(home.folder / ".codex")
    plain = path.read_bytes()
    path.with_suffix(".jsonl.zst").write_bytes(zstd.compress(plain))
    path.unlink()
    report = home.scan()
    assert report.files_failed == 0
    assert home.found("narwhal") == 1
    for one in load_all(home):
        assert one.origin == "vault"
        assert one.raw in plain


def test_a_session_that_moves_to_the_archive_keeps_its_records(home):
    path = rollout().save(home.folder / ".codex")
    home.scan()
    before = records(home)
    target = home.folder / ".codex" / "archived_sessions" / path.name
    target.parent.mkdir()
    os.rename(path, target)
    home.scan()
    assert records(home) == before
    assert {one.record.uid for one in load_all(home)} == {row.uid for row in home.app.loader().rows("1", ())}


def test_turns_that_were_rolled_back_are_abandoned_and_no_others(home):
    made = rollout()
    made.prompt("take the wrong way")
    made.reply("done wrongly")
    made._line("event_msg", {"type": "thread_rolled_back", "num_turns": 1})
    made.prompt("take the right way")
    made.save(home.folder / ".codex")
    home.scan()
    dead = [
        one.record.blocks[0].text
        for one in load_all(home)
        if one.row.flags & schema.ABANDONED and one.record.kind in ("prompt", "reply")
    ]
    assert dead == ["take the wrong way", "done wrongly"]


@pytest.mark.parametrize("newest", ["parent", "child"])
def test_a_codex_subagent_is_a_session_below_its_parent_and_joins_the_turn_that_spawned_it(home, newest):
    parent, child = rollout(), CodexRollout("child")
    parent._line("response_item", {"type": "function_call", "name": "spawn_agent", "arguments": "{}", "call_id": "c"})
    told = json.dumps({"agent_id": child.id, "nickname": "N"})
    parent._line("response_item", {"type": "function_call_output", "call_id": "c", "output": told})
    child.begin()
    spawn = {"subagent": {"thread_spawn": {"parent_thread_id": parent.id}}}
    child.lines[0]["payload"] |= {"source": spawn, "thread_source": "subagent"}
    child.prompt("explore the walrus")
    for made in (child, parent):
        path = made.save(home.folder / ".codex")
        late = (made is child) == (newest == "child")
        os.utime(path, (1_780_000_000 + late, 1_780_000_000 + late))
    home.scan()
    kinds = home.rows("select s.kind, p.kind from sessions s left join sessions p on p.id=s.parent_id order by s.kind")
    assert kinds == [("main", None), ("subagent", "main")]
    threads = {one.row.thread_id for one in load_all(home) if one.row.kind in ("prompt", "task")}
    assert len(threads) == 1
    assert home.rows("select count(*) from threads") == [(1,)]
    assert home.rows(f"select count(*) from records where flags & {schema.PROVISIONAL}") == [(0,)]


def test_a_grown_gemini_document_finds_what_its_messages_gained(home):
    chat = GeminiChat("g", cwd=str(home.folder))
    chat.prompt("list the harbour")
    chat.reply("looking")
    chat.save(home.folder / ".gemini")
    home.scan()
    use = {"id": "c1", "name": "run_shell_command", "args": {"command": "ls"}, "status": "error",
           "result": [{"functionResponse": {"id": "c1", "response": {"error": "no quokka here"}}}]}  # fmt: skip
    chat.messages[1]["toolCalls"] = [use]
    chat.prompt("and the walrus?")
    chat.save(home.folder / ".gemini")
    home.scan()
    assert home.found("quokka") == home.found("walrus") == 1
    answer = next(one for one in load_all(home) if one.row.uid == chat.messages[1]["id"])
    assert (answer.record.blocks[-1].text, answer.origin) == ("no quokka here", "live")
    assert answer.row.flags & schema.FAILED
    assert len(load_all(home)) == 3


def test_a_gemini_log_scanned_line_by_line_gives_the_same_records_as_one_scanned_whole(tmp_path):
    whole, growing = RecordHome(tmp_path / "whole"), RecordHome(tmp_path / "growing")
    chat = GeminiChat("g", cwd="/x")
    chat.prompt("list the harbour")
    chat.reply("looking")
    chat.messages.append(
        {**chat.messages[1], "toolCalls": [{"id": "c", "name": "ls", "args": {}, "status": "success"}]}
    )
    chat.prompt("more")
    for home in (whole, growing):
        path = chat.save(home.folder / ".gemini", lines=True)
    whole.scan()
    lines = path.read_bytes().splitlines(keepends=True)
    lines.append(json.dumps({"$rewindTo": chat.messages[-1]["id"]}).encode() + b"\n")
    (whole.folder / path.relative_to(growing.folder)).write_bytes(b"".join(lines))
    whole.scan(rebuild=True)
    for count in range(len(lines) + 1):
        path.write_bytes(b"".join(lines[:count]))
        growing.scan()
    assert records(growing) == records(whole)
    assert [one.row.uid for one in load_all(growing) if one.row.flags & schema.ABANDONED] == [chat.messages[-1]["id"]]


def test_a_part_that_was_running_is_found_whole_when_it_ended(home):
    owner = OpenCodeDatabase(home.folder / ".local" / "share" / "opencode" / "opencode.db")
    owner.session("ses_1")
    owner.message("msg_1", "ses_1", "user")
    owner.part("prt_1", "msg_1", "ses_1", type="text", text="list the harbour")
    owner.message("msg_2", "ses_1", "assistant", parentID="msg_1")
    owner.part(
        "prt_2", "msg_2", "ses_1", type="tool", tool="bash", callID="c", state={"status": "running", "input": {}}
    )
    home.scan()
    assert home.scan().files_read == 0
    done = {"status": "error", "input": {"command": "ls"}, "error": "no quokka here"}
    owner.part("prt_2", "msg_2", "ses_1", type="tool", tool="bash", callID="c", state=done)
    assert home.scan().files_read == 1
    assert home.found("quokka") == 1
    assert len(load_all(home)) == 3
    call = next(one for one in load_all(home) if one.row.uid == "prt_2")
    assert call.record.blocks[1].failed
    assert call.row.flags & schema.FAILED
    owner.close()
    assert home.scan().files_read == 0


def test_a_rebuilt_map_has_the_same_records_when_the_database_is_gone(home):
    owner = OpenCodeDatabase(home.folder / ".local" / "share" / "opencode" / "opencode.db")
    owner.session("ses_1")
    owner.message("msg_1", "ses_1", "user")
    owner.part("prt_1", "msg_1", "ses_1", type="text", text="list the quokka")
    owner.close()
    home.scan()
    before = records(home)
    owner.path.unlink()
    home.scan()
    home.scan(rebuild=True)
    assert records(home) == before
    assert home.found("quokka") == 1


def rows_by_column(connection):
    """Return the rows of a database as sets of (column, value): the order of columns is not part of the record."""
    found = []
    for table in ("session", "message", "part"):
        columns = [row[1] for row in connection.execute(f"pragma table_info({table})")]
        found.append([set(zip(columns, row, strict=True)) for row in connection.execute(f"select * from {table}")])
    return found


def test_a_session_that_vanished_from_its_database_is_restored_as_one(home, tmp_path):
    database = OpenCodeDatabase(home.folder / ".local/share/opencode/opencode.db")
    database.session("ses_1", "Harbour")
    database.message("msg_1", "ses_1", "user")
    database.part("prt_1", "msg_1", "ses_1", type="text", text="where is the zigzag")
    home.scan()
    before = rows_by_column(database.connection)
    database.close()
    database.path.unlink()

    restore(home.app, RestoreRequest("ses_1", output=tmp_path / "again.db"))

    again = apsw.Connection(str(tmp_path / "again.db"))
    assert rows_by_column(again) == before
    again.close()
