"""What hangs on records: subagents, failures and their ends, files, usage, late parents."""

from __future__ import annotations

from fabula.app.record.search import SearchRequest, search
from fabula.app.record.title import TitleRequest, title
from fabula.hosts.claude.generations import GenerationFolder
from fabula.kernel.ids import pack_id, unpack_id
from fabula.testing.record_home import RecordHome
from fabula.testing.transcripts import ClaudeSession, json_line


def test_a_subagents_file_joins_its_parents_thread_under_its_own_id(record_home: RecordHome) -> None:
    parent = ClaudeSession("parent")
    parent.prompt("survey the port")
    call = parent.calls(("Agent", {"prompt": "count ships", "subagent_type": "Explore"}))[0]
    agent = ClaudeSession("child", agent="a1b2c3", parent_session=parent.id)
    first = agent.task("count ships")
    agent.reply("there are nine ships")
    parent.result(call, "nine", detail={"agentId": "a1b2c3", "status": "completed"})
    record_home.save(parent)
    record_home.save(agent)

    record_home.scan()

    assert record_home.thread_of(first) == record_home.thread_of(parent.records[0]["uuid"])
    sessions = {
        unpack_id(uid): (kind, bool(up))
        for uid, kind, up in record_home.rows("select uid, kind, parent_id from sessions")
    }
    assert sessions == {parent.id: ("main", False), "a1b2c3": ("subagent", True)}


def test_a_record_whose_parent_is_written_later_moves_to_the_right_thread(record_home: RecordHome) -> None:
    session = ClaudeSession("late")
    session.prompt("first question")
    parent = session.reply("answer one")
    late = session.reply("the tapir remark")
    session.prompt("second question")
    first, answer, remark, second = session.records
    record_home.write(session.relative_path(), json_line(first) + json_line(second) + json_line(remark))
    record_home.scan()
    record_home.write(session.relative_path(), b"".join(map(json_line, (first, second, remark, answer))))

    record_home.scan()

    assert record_home.thread_of(late) == record_home.thread_of(parent) == record_home.thread_of(first["uuid"])


def test_a_failure_is_ended_by_the_later_success_of_the_same_command_also_in_a_later_scan(
    record_home: RecordHome,
) -> None:
    session = ClaudeSession("fail")
    session.prompt("run the tests")
    failed = session.tool("Bash", {"command": "pytest tests/a.py"}, "E   ValueError: bad harbor", failed=True)
    record_home.save(session)
    record_home.scan()
    assert record_home.rows("select resolved_by from failures") == [(None,)]
    session.tool("Edit", {"file_path": "/w/a.py", "old_string": "x", "new_string": "y"}, "ok")
    fixed = session.tool("Bash", {"command": "pytest tests/a.py"}, "1 passed")
    record_home.save(session)

    record_home.scan()

    rows = record_home.rows(
        "select f.uid, o.uid from failures x join records f on f.id=x.record_id join records o on o.id=x.resolved_by"
    )
    assert [(unpack_id(a), unpack_id(b)) for a, b in rows] == [(failed, fixed)]


def test_usage_is_counted_once_for_each_response(record_home: RecordHome) -> None:
    session = ClaudeSession("bill")
    session.prompt("go")
    session.reply("done", thought="hm")
    record_home.save(session)

    record_home.scan()

    assert record_home.rows("select count(*), sum(output) from responses") == [(1, 220)]


def test_edited_files_are_noted_with_what_was_done_to_them(record_home: RecordHome) -> None:
    session = ClaudeSession("edit")
    session.prompt("go")
    session.tool("Write", {"file_path": "/w/a.py", "content": "x = 1\n"}, "ok")
    session.tool("Edit", {"file_path": "/w/a.py", "old_string": "1", "new_string": "2"}, "ok")
    record_home.save(session)

    record_home.scan()

    question = "select p.path, t.operation from touches t join paths p on p.id=t.path_id order by t.record_id"
    assert record_home.rows(question) == [("/w/a.py", "write"), ("/w/a.py", "edit")]


def test_a_persons_title_beats_the_clients_whatever_their_order(record_home: RecordHome) -> None:
    session = ClaudeSession("title")
    session.prompt("go")
    session.title("my own", custom=True)
    session.title("made up")
    record_home.save(session)

    record_home.scan()

    assert record_home.rows("select title from sessions") == [("my own",)]
    assert record_home.rows("select count(*) from titles_fts where titles_fts match 'own'") == [(1,)]


def test_recalled_threads_become_citations(record_home: RecordHome) -> None:
    session = ClaudeSession("cite")
    session.prompt(
        'so <historical_context session="s" thread="t" arcs="p7,p9">the ibex tale</historical_context> what now'
    )
    record_home.save(session)

    record_home.scan()

    assert record_home.rows("select ref from citations order by ref") == [("p7",), ("p9",)]
    assert record_home.found("ibex") == 0


def test_a_thread_belongs_to_the_session_that_its_records_name_whatever_the_file_is_called(
    record_home: RecordHome,
) -> None:
    session = ClaudeSession("named")
    session.prompt("go")
    record_home.write("projects/-p/copied-elsewhere.jsonl", session.data())

    record_home.scan()

    rows = record_home.rows("select s.uid from threads t join sessions s on s.id=t.session_id")
    assert [unpack_id(uid) for (uid,) in rows] == [session.id]


def test_an_output_kept_on_disk_joins_the_thread_of_its_result(record_home: RecordHome) -> None:
    session = ClaudeSession("out")
    session.prompt("list it all")
    path = record_home.claude / session.relative_path().removesuffix(".jsonl") / "tool-results" / "b1.txt"
    stub = f"<persisted-output>\nOutput too large. Full output saved to: {path}\n</persisted-output>"
    session.tool("Bash", {"command": "find /"}, stub)
    record_home.save(session)
    path.parent.mkdir(parents=True)
    path.write_text("the axolotl line", encoding="utf-8")

    record_home.scan()

    assert record_home.found("axolotl") == 1


def test_a_legacy_summary_titles_the_session_that_owns_its_leaf(record_home: RecordHome) -> None:
    old, new = ClaudeSession("old"), ClaudeSession("new")
    old.prompt("how")
    leaf = old.reply("so")
    new.prompt("next")
    new.records.insert(0, {"type": "summary", "summary": "About the quay", "leafUuid": leaf})
    record_home.save(old)
    record_home.save(new)

    record_home.scan()

    titles = {unpack_id(uid): title for uid, title in record_home.rows("select uid, title from sessions")}
    assert titles == {old.id: "About the quay", new.id: ""}


def test_a_list_of_prompts_does_not_repeat_a_session_that_only_the_vault_holds(record_home: RecordHome) -> None:
    session = ClaudeSession("told")
    session.prompt("the lemur question")
    path = record_home.save(session)
    line = {"display": "the lemur question", "pastedContents": {}, "timestamp": 1_770_000_000_000, "project": "/w"}
    record_home.write("history.jsonl", json_line({**line, "sessionId": session.id}))
    record_home.scan()
    path.unlink()
    record_home.scan()

    record_home.scan(rebuild=True)

    assert record_home.found("lemur") == 1


def test_a_fork_read_before_its_origin_gives_the_records_back_to_it(record_home: RecordHome) -> None:
    origin = ClaudeSession("origin")
    origin.prompt("one")
    origin.reply("two")
    fork = origin.fork("fork")
    fork.prompt("three")
    record_home.save(fork)
    record_home.scan()
    record_home.save(origin)

    record_home.scan()

    owners = record_home.rows("select s.uid, count(*) from records r join sessions s on s.id=r.session_id group by 1")
    assert {unpack_id(uid): count for uid, count in owners} == {origin.id: 2, fork.id: 1}
    parents = record_home.rows("select s.uid, p.uid from sessions s join sessions p on p.id=s.parent_id")
    assert [(unpack_id(a), unpack_id(b)) for a, b in parents] == [(fork.id, origin.id)]
    billed = record_home.rows("select s.uid from responses r join sessions s on s.id=r.session_id")
    assert [unpack_id(uid) for (uid,) in billed] == [origin.id]
    assert record_home.raw(origin.records[1]["uuid"]) == json_line(origin.records[1]).rstrip(b"\n")


def test_files_beside_a_transcript_do_not_date_its_session(record_home: RecordHome) -> None:
    session = ClaudeSession("dated")
    uid = session.prompt("one")
    record_home.save(session)
    record_home.write(f"file-history/{session.id}/0123456789abcdef@v1", b"x = 1\n")

    record_home.scan()

    (last,) = record_home.rows("select last_time from sessions")
    assert last == record_home.rows("select max(time) from records where uid=?", pack_id(uid))[0]


def test_prompts_that_outlived_their_transcript_make_a_session_of_prompts(record_home: RecordHome) -> None:
    line = {"display": "the ocelot question", "pastedContents": {}, "timestamp": 1_770_000_000_000, "project": "/w"}
    record_home.write("history.jsonl", json_line({**line, "sessionId": "0f9d1a52-0000-4000-8000-000000000001"}))

    record_home.scan()

    assert record_home.rows("select kind from sessions where records>0") == [("prompts",)]


def test_a_persons_title_is_searched_in_a_rebuilt_map_too(record_home: RecordHome) -> None:
    session = ClaudeSession("mine")
    session.prompt("one")
    record_home.save(session)
    record_home.scan()
    title(record_home.app, TitleRequest(session.id, "Kittiwake census"))
    question = "select count(*) from titles_fts where titles_fts match 'kittiwake'"
    assert record_home.rows(question) == [(1,)]

    record_home.scan(rebuild=True)

    assert record_home.rows(question) == [(1,)]


def test_a_failed_edit_is_ended_by_writing_the_same_file(record_home: RecordHome) -> None:
    session = ClaudeSession("ways")
    session.prompt("change it")
    edit = {"file_path": "/w/a.py", "old_string": "x", "new_string": "y"}
    session.tool("Edit", edit, "String to replace not found in file.", failed=True)
    wrote = session.tool("Write", {"file_path": "/w/a.py", "content": "y"}, "ok")
    record_home.save(session)

    record_home.scan()

    rows = record_home.rows("select o.uid from failures x join records o on o.id=x.resolved_by")
    assert [unpack_id(uid) for (uid,) in rows] == [wrote]


def test_a_fork_that_adds_nothing_yet_is_in_its_origins_project(record_home: RecordHome) -> None:
    origin = ClaudeSession("origin")
    origin.prompt("one")
    record_home.save(origin)
    record_home.save(origin.fork("fork"))

    record_home.scan()

    projects = record_home.rows("select distinct p.label from sessions s join projects p on p.id=s.project_id")
    assert projects == [("harbor",)]
    assert record_home.rows("select count(*) from sessions where project_id is null") == [(0,)]


def test_talk_without_links_goes_on_in_the_turn_where_the_last_scan_ended(record_home: RecordHome) -> None:
    session = ClaudeSession("turn")
    first = session.prompt("one")
    record_home.save(session)
    record_home.scan()
    loose = session.reply("and so on")
    session.records[-1]["parentUuid"] = None
    record_home.save(session)

    record_home.scan()

    assert record_home.thread_of(loose) == record_home.thread_of(first)


def test_a_thread_that_goes_over_into_another_leaves_nothing_behind_and_its_words_are_found(
    record_home: RecordHome,
) -> None:
    session = ClaudeSession("moving")
    session.prompt("first question")
    session.reply("answer one")
    session.reply("the tapir remark about `harbor.py`")
    first, answer, remark = session.records
    record_home.write(session.relative_path(), json_line(remark))
    record_home.scan()
    record_home.write(session.relative_path(), b"".join(map(json_line, (first, answer, remark))))
    record_home.scan()
    for table in ("thread_parts", "thread_terms", "vectors", "passages"):
        stale = record_home.rows(f"select count(*) from {table} where thread_id not in (select id from threads)")
        assert stale == [(0,)], table
    found = search(record_home.app, SearchRequest("tapir", all=True))
    assert [hit.thread for hit in found.hits] == [session.prompt_id]
    assert record_home.rows("select characters from threads") == [
        (len("first question") + len("answer one") + len("the tapir remark about `harbor.py`"),)
    ]


def test_a_record_whose_better_copy_comes_later_is_counted_once(record_home: RecordHome) -> None:
    session = ClaudeSession("slim")
    session.prompt("read it")
    session.tool("Read", {"file_path": "/w/a.py"}, "the ocelot lines " * 50)
    session.reply("done")
    whole = b"".join(map(json_line, session.records))
    slim = whole.replace(b"the ocelot lines " * 50, b"[Old tool result content cleared]")
    record_home.write(session.relative_path(), slim)
    record_home.scan()
    folder = record_home.folder / "generations" / "harbor" / session.id
    folder.mkdir(parents=True)
    (folder / "v0-raw.jsonl").write_bytes(whole)
    record_home.scan(extra=(GenerationFolder((folder.parents[1],)),))
    assert record_home.found("ocelot") == 1
    assert record_home.rows("select records, first_record, last_record from threads") == record_home.rows(
        "select count(*), min(id), max(id) from records where thread_id is not null"
    )


def test_a_thread_is_its_sessions_also_when_the_subagents_file_comes_first(record_home: RecordHome) -> None:
    parent = ClaudeSession("parent")
    prompt = parent.prompt("survey the port")
    agent = ClaudeSession("child", agent="a1b2c3", parent_session=parent.id)
    agent.task("count ships")
    agent.records[-1]["promptId"] = parent.prompt_id
    record_home.save(agent)
    record_home.scan()
    record_home.save(parent)
    record_home.scan()
    owner = "select s.uid from threads t join sessions s on s.id=t.session_id where t.id=?"
    assert record_home.rows(owner, record_home.thread_of(prompt)) == [(pack_id(parent.id),)]


def test_a_summary_read_before_the_session_that_it_titles_waits_for_it(record_home: RecordHome) -> None:
    old, new = ClaudeSession("old"), ClaudeSession("new")
    old.prompt("how")
    leaf = old.reply("so")
    new.prompt("next")
    new.records.insert(0, {"type": "summary", "summary": "About the quay", "leafUuid": leaf})
    record_home.save(new)
    record_home.scan()
    assert record_home.rows("select title from sessions") == [("",)]
    record_home.save(old)

    record_home.scan()

    titles = {unpack_id(uid): title for uid, title in record_home.rows("select uid, title from sessions")}
    assert titles == {old.id: "About the quay", new.id: ""}
