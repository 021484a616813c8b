"""Which files of a Codex home are found, and how each is opened."""

from __future__ import annotations

import gzip
import json
import os
import sys
from pathlib import Path

from fabula.hosts.codex.roots import codex_home
from fabula.hosts.codex.source import CodexSource, session_in
from fabula.kernel.records import Record
from fabula.testing.rollouts import CodexRollout

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

ID = "01a20000-0000-7000-8000-00000000aaaa"


def records(source, file):
    normaliser = source.normaliser(file, None)
    found = []
    for chunk in source.container(file).chunks():
        found += [normaliser.normalise(value.value, value.offset, value.length) for value in chunk.values]
    return [record for record in found if isinstance(record, Record)]


def rollout(folder, name, data):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return str(path)


def sample():
    made = CodexRollout("s")
    made.begin()
    made.prompt("make it so")
    made.shell("ls", "a b", code=2)
    made.reply("so it is")
    return made


def test_dated_flat_archived_compressed_and_old_files_are_found_and_read_alike(tmp_path):
    data = sample().data()
    paths = [
        rollout(tmp_path, f"archived_sessions/rollout-2026-03-01T09-00-00-{ID}.jsonl", data),
        rollout(tmp_path, f"sessions/2026/03/02/rollout-2026-03-02T09-00-00-{ID}.jsonl.zst", zstd.compress(data)),
        rollout(tmp_path, f"sessions/2026/03/02/rollout-2026-03-02T09-00-01-{ID}.jsonl.gz", gzip.compress(data)),
        rollout(tmp_path, f"sessions/rollout-2025-03-02-{ID}.jsonl", data),
    ]
    source = CodexSource(tmp_path)
    files = list(source.discover())
    assert sorted(file.path for file in files) == sorted(paths)
    assert {(file.kind, file.session, file.host) for file in files} == {("session", ID, "codex")}
    read = [[(record.uid, record.kind) for record in records(source, file)] for file in files]
    assert all(found == read[0] for found in read)
    assert [kind for _, kind in read[0]] == ["notice", "prompt", "call", "result", "reply"]


def test_the_oldest_rollouts_are_documents_with_a_list_of_items(tmp_path):
    item = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hello"}]}
    session = {"id": ID, "timestamp": "2025-04-20T10:00:00Z", "cwd": "/home/ada"}
    text = json.dumps({"session": session, "items": [item]}, indent=2)
    rollout(tmp_path, f"sessions/rollout-2025-04-20-{ID}.json", text.encode())
    source = CodexSource(tmp_path)
    (file,) = source.discover()
    (found,) = records(source, file)
    assert (found.kind, found.session, found.cwd, found.blocks[0].text) == ("prompt", ID, "/home/ada", "hello")
    assert json.loads(text.encode()[found.offset : found.offset + found.length]) == item


def test_prompts_of_a_session_that_is_gone_are_found_in_the_history(tmp_path):
    rollout(tmp_path, f"sessions/rollout-2026-03-01T09-00-00-{ID}.jsonl", sample().data())
    gone = [{"session_id": "gone", "ts": 1772355600, "text": "lost words"}, {"session_id": ID, "ts": 1, "text": "kept"}]
    rollout(tmp_path, "history.jsonl", "".join(json.dumps(value) + "\n" for value in gone).encode())
    source = CodexSource(tmp_path)
    history = next(file for file in source.discover() if file.kind == "history")
    (found,) = records(source, history)
    assert (found.session, found.blocks[0].text, found.time) == ("gone", "lost words", 1772355600000)


def test_names_given_to_sessions_are_titles(tmp_path):
    rollout(
        tmp_path, "session_index.jsonl", b'{"id":"s1","thread_name":"Harbour","updated_at":"2026-03-01T10:00:00Z"}\n'
    )
    source = CodexSource(tmp_path)
    (file,) = source.discover()
    (found,) = records(source, file)
    assert (found.session, found.title, found.title_rank) == ("s1", "Harbour", 3)


def test_a_home_that_is_not_there_holds_nothing_and_other_files_are_left_alone(tmp_path):
    assert list(CodexSource(tmp_path / "none").discover()) == []
    rollout(tmp_path, "sessions/notes.txt", b"x")
    rollout(tmp_path, "sessions/settings.json", b"{}")
    assert list(CodexSource(tmp_path).discover()) == []


def test_links_in_a_circle_end_and_a_foreign_file_is_read_as_lines(tmp_path):
    foreign = rollout(tmp_path, "sessions/2026/other.jsonl", b'{"hello":1}\n[1]\nnot json\n')
    os.symlink(tmp_path / "sessions", tmp_path / "sessions" / "2026" / "again")
    source = CodexSource(tmp_path)
    (file,) = source.discover()
    assert file.path == foreign
    assert records(source, file) == []
    assert source.problems() == []


def test_a_link_that_leads_elsewhere_is_a_problem_and_one_that_stays_is_followed(tmp_path):
    outside = rollout(tmp_path / "outside", f"rollout-{ID}.jsonl", b"{}\n")
    inside = rollout(tmp_path, f"home/sessions/2026/rollout-1-{ID}.jsonl", sample().data())
    os.symlink(outside, tmp_path / "home" / "sessions" / "away.jsonl")
    os.symlink(inside, tmp_path / "home" / "sessions" / "near.jsonl")
    source = CodexSource(tmp_path / "home")
    assert [os.path.basename(file.path) for file in source.discover()] == [os.path.basename(inside), "near.jsonl"]
    assert source.problems() == [(str(tmp_path / "home" / "sessions" / "away.jsonl"), "a link that leads elsewhere")]


def test_the_home_is_named_by_the_environment_or_lies_in_the_users():
    home = Path("/home/ada")
    assert codex_home({}, home) == home / ".codex"
    assert codex_home({"CODEX_HOME": "/srv/codex"}, home) == Path("/srv/codex")
    assert codex_home({"CODEX_HOME": "~/cx"}, home) == home / "cx"


def test_the_first_id_in_a_name_is_the_session():
    other = ID.replace("a", "b")
    assert session_in(f"rollout-2026-03-01T09-00-00-{ID}_{other}.jsonl") == ID
    assert session_in("notes.jsonl") == ""
