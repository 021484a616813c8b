"""Which files below ``.gemini`` are found, and which working folder they belong to."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path

from fabula.hosts.gemini.roots import gemini_home
from fabula.hosts.gemini.source import GeminiSource
from fabula.kernel.records import Record
from fabula.testing.rollouts import GeminiChat


def records(source, file):
    normaliser = source.normaliser(file, None)
    found = []
    for chunk in source.container(file).chunks():
        found += [normaliser.normalise(value.value, value.offset, value.length) for value in chunk.values]
    return [record for record in found if isinstance(record, Record)]


def chat():
    made = GeminiChat("s", cwd="/home/ada/notes")
    made.prompt("what is here?")
    made.reply("A file.", ("read_file", {"absolute_path": "/home/ada/notes/a.md"}, "text"), thought="Look.")
    return made


def test_a_document_and_the_log_of_the_same_chat_are_the_same_records(tmp_path):
    made = chat()
    made.save(tmp_path)
    made.save(tmp_path, lines=True)
    source = GeminiSource(tmp_path)
    document, log = source.discover()
    assert [Path(file.path).suffix for file in (document, log)] == [".json", ".jsonl"]
    one, two = records(source, document), records(source, log)
    assert [(record.uid, record.kind, record.session) for record in one] == [
        (record.uid, record.kind, record.session) for record in two
    ]
    assert {record.cwd for record in one} == {"/home/ada/notes"}
    data = Path(document.path).read_bytes()
    assert [json.loads(data[record.offset : record.offset + record.length])["id"] for record in one] == [
        message["id"] for message in made.messages
    ]


def test_the_working_folder_is_told_by_the_projects_file_or_the_list_of_projects(tmp_path):
    path = "/home/ada/harbour"
    (tmp_path / "projects.json").write_text(json.dumps({"projects": {path: "harbour", "/home/ada/x": "x"}}))
    for name in ("harbour", sha256(path.encode()).hexdigest(), "unknown"):
        folder = tmp_path / "tmp" / name / "chats"
        folder.mkdir(parents=True)
        (folder / "session-1.json").write_text('{"sessionId":"s","messages":[{"id":"m","type":"user","content":"x"}]}')
    source = GeminiSource(tmp_path)
    assert sorted(record.cwd for file in source.discover() for record in records(source, file)) == ["", path, path]


def test_subagents_chats_and_prompt_logs_are_found(tmp_path):
    project = tmp_path / "tmp" / "notes"
    (project / "chats" / "parent-1").mkdir(parents=True)
    (project / "chats" / "parent-1" / "agent-1.jsonl").write_text('{"id":"m","type":"user","content":"look"}\n')
    (project / "chats" / "session-2026-03-01T10-00-5f0c0000.json").write_text("{}")
    log = [
        {"sessionId": session, "messageId": 0, "type": "user", "message": "hi"} for session in ("5f0c0000-1", "gone")
    ]
    (project / "logs.json").write_text(json.dumps(log, indent=2))
    (project / "shell_history").write_text("ls")
    source = GeminiSource(tmp_path)
    files = {(file.kind, file.session, file.parent_session): file for file in source.discover()}
    assert set(files) == {("subagent", "agent-1", "parent-1"), ("session", "", ""), ("history", "", "")}
    assert [record.session for record in records(source, files["history", "", ""])] == ["gone"]
    assert [record.kind for record in records(source, files["subagent", "agent-1", "parent-1"])] == ["task"]


def test_a_home_that_is_not_there_or_damaged_lists_are_no_obstacle(tmp_path):
    assert list(GeminiSource(tmp_path / "none").discover()) == []
    (tmp_path / "projects.json").write_text("[broken")
    made = chat()
    made.save(tmp_path)
    assert len(list(GeminiSource(tmp_path).discover())) == 1


def test_the_home_is_named_by_the_environment_or_lies_in_the_users():
    assert gemini_home({}, Path("/home/ada")) == Path("/home/ada/.gemini")
    assert gemini_home({"GEMINI_CLI_HOME": "/srv/g"}, Path("/home/ada")) == Path("/srv/g/.gemini")
