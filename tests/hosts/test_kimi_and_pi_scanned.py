"""Kimi Code and Pi through whole scans: accounts, growth line by line, damage, vanished files, the samples."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from fabula.app.record.failures import FailuresRequest, failures
from fabula.app.record.file import FileRequest, file
from fabula.app.record.restore import RestoreRequest, restore
from fabula.app.record.resume import ResumeRequest, resume
from fabula.app.record.scan import ScanRequest, scan
from fabula.app.record.sessions import SessionsRequest, sessions
from fabula.app.record.thread import ThreadRequest, thread
from fabula.kernel.ids import unpack_id
from fabula.testing.kimi_session import KimiSession
from fabula.testing.pi_session import PiSession
from fabula.testing.record_home import RecordHome
from fabula.testing.reference import reference_count

SAMPLES = Path(__file__).resolve().parents[1] / "data"


@pytest.fixture
def home(tmp_path):
    return RecordHome(tmp_path / "home")


def pi(home):
    made = PiSession("scanned", cwd=str(home.folder))
    made.prompt("why does the zigzag stall")
    made.call("bash", "c1", command="cat zebra.log")
    made.result("c1", "cat: quokka: No such file or directory\n\nCommand exited with code 1", failed=True)
    made.call("write", "c2", path="zigzag.py", content="n = 1\n")
    made.result("c2", "Successfully wrote")
    made.call("edit", "c3", path="zigzag.py", edits=[{"oldText": "n = 1", "newText": "n = 2"}])
    made.result("c3", "Successfully replaced 1 block(s)")
    made.call("bash", "c4", command="cat zebra.log")
    made.result("c4", "calm")
    made.reply("it waits for the narwhal")
    return made.save(home.folder / ".pi" / "agent"), made.id


def kimi(home):
    made = KimiSession("scanned", cwd=str(home.folder), title="Zigzag")
    wire = made.main
    wire.prompt("why does the zigzag stall")
    wire.tool("Bash", "c1", "cat: quokka: No such file or directory", failed=True, command="cat zebra.log")
    wire.tool("Write", "c2", "Wrote 6 bytes", path="zigzag.py", content="n = 1\n")
    wire.tool("Edit", "c3", "Replaced 1 occurrence", path="zigzag.py", old_string="n = 1", new_string="n = 2")
    wire.tool("Bash", "c4", "calm", command="cat zebra.log")
    wire.reply("it waits for the narwhal")
    return made.save(home.folder / ".kimi-code"), made.id


HOSTS = pytest.mark.parametrize("made", [pi, kimi])


def records(home):
    return home.rows("select uid, kind, role, thread_id is null, parent, source, length from records order by uid")


@HOSTS
def test_the_account_counts_what_the_reference_counts(home, made):
    path, _ = made(home)
    with open(path, "ab") as transcript:
        transcript.write(b'{"type":"message"} trash {"type":"later"}\nno json\n{"torn')
    account = next(one for one in scan(home.app, ScanRequest()).files if one.path == str(path))
    assert (account.objects, account.recovered) == reference_count(str(path))
    assert account.objects == account.indexed + sum(account.skipped.values())
    assert account.span_bytes + account.gap_bytes + account.unreadable_bytes == path.stat().st_size


@HOSTS
def test_a_session_is_found_read_and_opened_again(home, made):
    path, session = made(home)
    home.scan()
    (line,) = sessions(home.app, SessionsRequest(all=True)).sessions
    assert (line.id, line.threads) == (session, 1)
    assert home.found("narwhal") == 1
    ((uid,),) = home.rows("select uid from threads")
    shown = thread(home.app, ThreadRequest(unpack_id(uid)))
    assert shown.unreadable == ()
    assert shown.branch_turns == 0
    places = [shown.text.find(word) for word in ("zigzag stall", "quokka", "n = 1", "n = 2", "calm", "narwhal")]
    assert -1 not in places
    assert places == sorted(places)
    versions = file(home.app, FileRequest(str(home.folder / "zigzag.py"))).versions
    assert [version.operation for version in versions] == ["write", "edit"]
    again = file(home.app, FileRequest(str(home.folder / "zigzag.py"), show=2))
    assert again.content == "n = 2\n"
    (found,) = failures(home.app, FailuresRequest("cat: quokka: No such file or directory")).occurrences
    assert found.session == session
    assert found.resolution is not None
    words = resume(home.app, ResumeRequest(session, print_only=True))
    assert words.words == (line.host, "--session", session)
    assert words.environment == {}
    assert path.exists()


@HOSTS
def test_a_transcript_scanned_line_by_line_gives_the_same_records_as_one_scanned_whole(tmp_path, made):
    whole, growing = RecordHome(tmp_path / "home"), RecordHome(tmp_path / "growing")
    path, _ = made(whole)
    whole.scan()
    target = growing.folder / path.relative_to(whole.folder)
    shutil.copytree(path.parent if made is pi else path.parents[2], target.parent if made is pi else target.parents[2])
    lines = path.read_bytes().splitlines(keepends=True)
    for count in range(0, len(lines) + 1, 3):
        target.write_bytes(b"".join(lines[:count]))
        growing.scan()
    target.write_bytes(b"".join(lines))
    growing.scan()
    assert records(growing) == records(whole)


@HOSTS
def test_what_vanished_is_served_from_the_vault_and_found_by_a_new_map(home, made):
    path, session = made(home)
    data = path.read_bytes()
    home.scan()
    before = records(home)
    path.unlink()
    home.scan()
    home.scan(rebuild=True)
    assert records(home) == before
    assert home.found("narwhal") == 1
    assert b"".join(restore(home.app, RestoreRequest(str(path))).pieces()) == data
    assert resume(home.app, ResumeRequest(session, print_only=True)).notes


def test_a_kimi_session_bears_its_title_and_its_folder(home):
    _, session = kimi(home)
    home.scan()
    assert home.rows("select title from sessions where kind='main'") == [("Zigzag",)]
    assert home.rows("select cwd from sessions where kind='main'") == [(str(home.folder),)]
    assert session


def test_a_subagent_of_kimi_is_shown_where_it_was_started(home):
    made = KimiSession("helper", cwd=str(home.folder))
    made.main.prompt("count the lines")
    made.main.line("subagent.spawned", subagentId="a0", parentToolCallId="t1", parentAgentId="main")
    made.main.tool("Agent", "t1", "agent_id: a0", prompt="Count.")
    helper = made.subagent("a0")
    helper.user("Count.", identity="msg_A", kind="system_trigger", name="subagent")
    helper.reply("two narwhals")
    made.save(home.folder / ".kimi-code")
    home.scan()
    ((uid,),) = home.rows("select uid from threads")
    shown = thread(home.app, ThreadRequest(unpack_id(uid)))
    assert shown.sidechain_turns == 2
    assert "two narwhals" in shown.text


def test_a_fork_of_pi_shares_its_records_with_the_session_it_came_from(home):
    made = PiSession("root", cwd=str(home.folder))
    made.prompt("why does the zigzag stall")
    made.reply("it waits")
    path = made.save(home.folder / ".pi" / "agent")
    fork = PiSession("fork", cwd=str(home.folder), parent=str(path))
    fork.lines += made.lines[1:]
    fork.leaf = made.leaf
    fork.prompt("and now the narwhal")
    fork.save(home.folder / ".pi" / "agent")
    home.scan()
    assert home.found("zigzag") == 1
    ((parent,),) = home.rows(
        "select p.uid from sessions s join sessions p on p.id = s.parent_id where s.uid = ?", fork_id(fork)
    )
    assert unpack_id(parent) == made.id


def fork_id(fork):
    from fabula.kernel.ids import pack_id

    return pack_id(fork.id)


@pytest.mark.parametrize("host", ["kimi", "pi"])
def test_the_samples_read_without_a_loss(tmp_path, host):
    shutil.copytree(SAMPLES / host / "home", tmp_path / "home")
    home = RecordHome(tmp_path / "home")
    result = scan(home.app, ScanRequest())
    expected = json.loads((SAMPLES / host / "expected.json").read_text())
    found = {str(Path(one.path).relative_to(home.folder)): [one.objects, one.indexed] for one in result.files}
    assert found == expected["files"]
    lines = sessions(home.app, SessionsRequest(all=True)).sessions
    assert sorted((line.title, line.threads) for line in lines) == sorted(map(tuple, expected["sessions"]))
    for (uid,) in home.rows("select uid from threads"):
        assert thread(home.app, ThreadRequest(unpack_id(uid))).unreadable == ()
