"""Finding Claude Code's files: every layout, links, folders that cannot be read."""

from __future__ import annotations

import json
import os
import time
from typing import TYPE_CHECKING, Any

import pytest

from fabula.hosts.claude.generations import GenerationFolder
from fabula.hosts.claude.source import ClaudeSource, results_folder
from fabula.kernel.records import Record, SourceFile

if TYPE_CHECKING:
    from pathlib import Path

LINE = b'{"type":"user","uuid":"u","sessionId":"S1","message":{"content":"hi"}}\n'


def put(path: Path, data: bytes = LINE) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def found(source: ClaudeSource | GenerationFolder) -> dict[str, SourceFile]:
    files = list(source.discover())
    assert len({file.path for file in files}) == len(files)
    return {os.path.basename(file.path): file for file in files}


def records(
    source: ClaudeSource | GenerationFolder, file: SourceFile, state: dict[str, Any] | None = None
) -> list[Record | str]:
    normaliser = source.normaliser(file, state)
    return [
        normaliser.normalise(value.value, value.offset, value.length)
        for chunk in source.container(file).chunks()
        for value in chunk.values
    ]


def test_every_layout_is_found(tmp_path: Path) -> None:
    key = tmp_path / "projects" / "-home-u-p"
    put(key / "S1.jsonl")
    put(key / "agent-old1.jsonl")
    put(key / "S1" / "subagents" / "agent-new1.jsonl")
    put(key / "S1" / "subagents" / "agent-new1.meta.json", b"{}")
    put(key / "S1" / "subagents" / "agent-acompact-ff.jsonl")
    put(key / "S1" / "subagents" / "workflows" / "wf_1" / "agent-deep.jsonl")
    put(key / "S1" / "subagents" / "workflows" / "wf_1" / "journal.jsonl")
    put(key / "S1" / "tool-results" / "b1.txt")
    put(key / "GONE" / "subagents" / "agent-orphan.jsonl")
    put(key / "S3" / "chat.jsonl")
    put(key / "memory" / "MEMORY.md")
    put(key / "notes.txt")
    put(tmp_path / "projects" / "stray.jsonl")
    put(tmp_path / "history.jsonl")
    put(tmp_path / "file-history" / "S1" / "ff@v2")
    source = ClaudeSource([tmp_path])
    files = found(source)
    assert {name: (file.kind, file.session, file.parent_session) for name, file in files.items()} == {
        "S1.jsonl": ("session", "S1", ""),
        "agent-old1.jsonl": ("subagent", "old1", ""),
        "agent-new1.jsonl": ("subagent", "new1", "S1"),
        "agent-new1.meta.json": ("meta", "", "S1"),
        "agent-acompact-ff.jsonl": ("compaction", "acompact-ff", "S1"),
        "agent-deep.jsonl": ("subagent", "deep", "S1"),
        "journal.jsonl": ("journal", "", "S1"),
        "b1.txt": ("tool-result", "S1", ""),
        "agent-orphan.jsonl": ("subagent", "orphan", "GONE"),
        "chat.jsonl": ("session", "S3", ""),
        "stray.jsonl": ("session", "stray", ""),
        "history.jsonl": ("history", "", ""),
        "ff@v2": ("file-backup", "S1", ""),
    }
    assert source.problems() == []
    stat = (key / "S1.jsonl").stat()
    main = files["S1.jsonl"]
    assert (main.size, main.mtime_ns, main.ctime_ns, main.inode) == (
        stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino,
    )  # fmt: skip
    assert (main.host, main.immutable, main.generation) == ("claude", False, -1)


def test_discovery_reads_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path / "projects" / "p" / "S1.jsonl")
    put(tmp_path / "projects" / "p" / "S1" / "subagents" / "agent-a.meta.json")
    monkeypatch.setattr("builtins.open", lambda *_: pytest.fail("a file was opened"))
    assert len(found(ClaudeSource([tmp_path]))) == 2


def test_a_root_that_does_not_exist_holds_nothing(tmp_path: Path) -> None:
    source = ClaudeSource([tmp_path / "none"])
    assert found(source) == {}
    assert source.problems() == []


def test_roots_that_are_one_folder_are_read_once(tmp_path: Path) -> None:
    put(tmp_path / "real" / "projects" / "p" / "S1.jsonl")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert len(list(ClaudeSource([tmp_path / "real", tmp_path / "link", tmp_path / "real"]).discover())) == 1


def test_links_are_followed_inside_the_projects_only(tmp_path: Path) -> None:
    outside = put(tmp_path / "outside" / "secret.jsonl")
    project = tmp_path / "root" / "projects" / "p"
    put(project / "S1" / "kept" / "old.txt")
    put(project / "S1" / "kept" / "agent-old.bin")
    (project / "inside.jsonl").symlink_to(project / "S1" / "kept" / "old.txt")
    (project / "leads-out.jsonl").symlink_to(outside)
    (project.parent / "q").symlink_to(outside.parent)
    (project / "broken.jsonl").symlink_to(project / "nowhere")
    source = ClaudeSource([tmp_path / "root"])
    assert set(found(source)) == {"inside.jsonl"}
    assert [(os.path.basename(path), reason.split(",")[0]) for path, reason in sorted(source.problems())] == [
        ("leads-out.jsonl", "a symbolic link that leads outside its folder"),
        ("q", "a symbolic link that leads outside its folder"),
    ]


def test_links_in_circles_end(tmp_path: Path) -> None:
    folder = put(tmp_path / "projects" / "p" / "S1" / "subagents" / "agent-a.jsonl").parent
    (folder / "again").symlink_to(folder)
    (folder.parent / "up").symlink_to(tmp_path / "projects" / "p")
    paths = [file.path for file in ClaudeSource([tmp_path]).discover()]
    assert len(paths) < 10


def test_a_projects_folder_elsewhere_is_the_users_choice(tmp_path: Path) -> None:
    put(tmp_path / "disk" / "p" / "S1.jsonl")
    (tmp_path / "root").mkdir()
    (tmp_path / "root" / "projects").symlink_to(tmp_path / "disk")
    assert set(found(ClaudeSource([tmp_path / "root"]))) == {"S1.jsonl"}


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is unreadable to the superuser")
def test_an_unreadable_folder_is_a_problem_that_costs_no_neighbour(tmp_path: Path) -> None:
    put(tmp_path / "projects" / "a" / "S1.jsonl")
    shut = put(tmp_path / "projects" / "b" / "S2.jsonl").parent
    put(tmp_path / "projects" / "c" / "S3.jsonl")
    shut.chmod(0)
    source = ClaudeSource([tmp_path])
    try:
        assert set(found(source)) == {"S1.jsonl", "S3.jsonl"}
        assert source.problems() == [(str(shut), "Permission denied")]
    finally:
        shut.chmod(0o700)


def test_a_folder_that_cannot_be_listed_is_a_problem_that_costs_no_neighbour(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tmp_path / "projects" / "a" / "S1.jsonl")
    shut = put(tmp_path / "projects" / "b" / "S2.jsonl").parent
    listing = os.scandir

    def scandir(path: str) -> Any:
        if path == str(shut):
            raise PermissionError(13, "Permission denied", path)
        return listing(path)

    monkeypatch.setattr(os, "scandir", scandir)
    source = ClaudeSource([tmp_path])
    assert set(found(source)) == {"S1.jsonl"}
    assert source.problems() == [(str(shut), "Permission denied")]


def test_pipes_and_sockets_are_no_transcripts(tmp_path: Path) -> None:
    put(tmp_path / "projects" / "p" / "S1.jsonl")
    os.mkfifo(tmp_path / "projects" / "p" / "S2.jsonl")
    (tmp_path / "projects" / "p" / "S3.jsonl").mkdir()
    assert set(found(ClaudeSource([tmp_path]))) == {"S1.jsonl"}


def test_a_folder_of_any_layout_can_be_read(tmp_path: Path) -> None:
    put(tmp_path / "x" / "y" / "S1.jsonl")
    put(tmp_path / "x" / "y" / "S1" / "subagents" / "agent-a.jsonl")
    put(tmp_path / "x" / "y" / "S1" / "tool-results" / "r.txt")
    put(tmp_path / "x" / "agent-b.jsonl")
    files = found(ClaudeSource([], [tmp_path]))
    assert {name: (file.kind, file.parent_session) for name, file in files.items()} == {
        "S1.jsonl": ("session", ""),
        "agent-a.jsonl": ("subagent", "S1"),
        "r.txt": ("tool-result", ""),
        "agent-b.jsonl": ("subagent", ""),
    }


def test_meta_beside_a_subagent_says_who_started_it(tmp_path: Path) -> None:
    folder = tmp_path / "projects" / "p" / "S1" / "subagents"
    put(folder / "agent-a.jsonl")
    put(folder / "agent-a.meta.json", b'{"toolUseId":"toolu_1","description":"look","parentAgentId":"boss"}')
    put(folder / "agent-b.jsonl")
    put(folder / "agent-b.meta.json", b'["not", "meta"')
    source = ClaudeSource([tmp_path])
    files = found(source)
    (first,) = records(source, files["agent-a.jsonl"])
    (second,) = records(source, files["agent-b.jsonl"])
    assert isinstance(first, Record)
    assert isinstance(second, Record)
    assert (first.spawned_by, first.title, first.parent_session) == ("toolu_1", "look", "boss")
    assert (second.spawned_by, second.title, second.parent_session) == ("b", "", "S1")
    assert records(source, files["agent-a.meta.json"]) == ["meta"]


def test_journals_and_foreign_files_are_kept_under_their_kind(tmp_path: Path) -> None:
    folder = tmp_path / "projects" / "p" / "S1" / "subagents" / "workflows" / "wf"
    put(folder / "journal.jsonl", b'{"type":"started","key":"k","agentId":"a"}\n')
    put(folder / "plugin.jsonl", LINE)
    source = ClaudeSource([tmp_path])
    files = found(source)
    assert records(source, files["journal.jsonl"]) == ["journal"]
    assert records(source, files["plugin.jsonl"]) == ["foreign"]


def test_results_folders_follow_the_layout() -> None:
    main = SourceFile("claude", "/r/projects/p/S1.jsonl", "session", "S1", 0, 0, 0, 0)
    assert results_folder(main) == "/r/projects/p/S1/tool-results"
    agent = SourceFile("claude", "/r/projects/p/S1/subagents/w/agent-a.jsonl", "subagent", "a", 0, 0, 0, 0, "S1")
    assert results_folder(agent) == "/r/projects/p/S1/tool-results"


def test_outputs_of_tools_become_results_that_the_stub_can_be_joined_to(tmp_path: Path) -> None:
    path = put(tmp_path / "projects" / "p" / "S1" / "tool-results" / "toolu_9.txt", "grün\n".encode())
    source = ClaudeSource([tmp_path])
    (record,) = records(source, found(source)["toolu_9.txt"])
    assert isinstance(record, Record)
    assert (record.kind, record.role, record.session, record.has_id) == ("result", "tool", "S1", False)
    (block,) = record.blocks
    assert (block.text, block.tool_id, block.input) == ("grün\n", "toolu_9", {"persisted": str(path)})
    assert record.spawned_by == str(path)
    assert (record.offset, record.length, record.time) == (0, 6, path.stat().st_mtime_ns // 1_000_000)


def test_backups_of_files_can_be_found_by_the_name_that_snapshots_use(tmp_path: Path) -> None:
    put(tmp_path / "file-history" / "S1" / "ff@v2", b"def f(): ...\n")
    source = ClaudeSource([tmp_path])
    (record,) = records(source, found(source)["ff@v2"])
    assert isinstance(record, Record)
    assert (record.kind, record.session) == ("snapshot", "S1")
    assert (record.blocks[0].text, record.blocks[0].input) == ("def f(): ...\n", {"backup": "ff@v2"})


def test_prompts_outlive_their_transcripts(tmp_path: Path) -> None:
    put(tmp_path / "projects" / "p" / "KEPT.jsonl")
    lines = [
        {"display": "still there", "timestamp": 1770091506789, "project": "/p", "sessionId": "KEPT"},
        {"display": "see [Pasted text #1]",
         "pastedContents": {"1": {"content": "the paste"}, "2": {"contentHash": "x"}},
         "timestamp": 1770091506789, "project": "/p", "sessionId": "GONE"},
        {"display": "before sessions had ids", "timestamp": 1770091506000, "project": "/p"},
        {"display": None}, {"other": 1},
    ]  # fmt: skip
    put(tmp_path / "history.jsonl", b"".join(json.dumps(line).encode() + b"\n" for line in lines))
    source = ClaudeSource([tmp_path])
    file = found(source)["history.jsonl"]
    kept, gone, old, *rest = records(source, file)
    assert kept == "in-transcript"
    assert rest == ["foreign", "foreign"]
    assert isinstance(gone, Record)
    assert isinstance(old, Record)
    assert (gone.kind, gone.session, gone.raw_type, gone.cwd) == ("prompt", "GONE", "history", "/p")
    assert [block.text for block in gone.blocks] == ["see [Pasted text #1]", "the paste"]
    assert old.session.startswith("fab-")


def test_a_prompt_once_taken_from_the_history_is_read_the_same_later(tmp_path: Path) -> None:
    line = {"display": "first", "timestamp": 1770091506789, "project": "/p", "sessionId": "LATE"}
    put(tmp_path / "history.jsonl", json.dumps(line).encode() + b"\n")
    source = ClaudeSource([tmp_path])
    file = found(source)["history.jsonl"]
    normaliser = source.normaliser(file, None)
    first = normaliser.normalise(line, 0, 90)
    put(tmp_path / "projects" / "p" / "LATE.jsonl")
    found(source)
    later = source.normaliser(file, normaliser.state)
    assert later.normalise(line, 0, 90) == first
    assert later.normalise(line, 91, 90) == "in-transcript"


def test_generations_of_a_folder_are_immutable_files(tmp_path: Path) -> None:
    session = tmp_path / "proj" / "S1"
    for name in ("v0-raw.jsonl", "v2-pruned.jsonl", "v10-pruned.jsonl", "vx-raw.jsonl", "v3-pruned.jsonl.bak"):
        put(session / name)
    put(tmp_path / "index.json")
    (session / "v4-pruned.jsonl").symlink_to(session / "v0-raw.jsonl")
    source = GenerationFolder([tmp_path])
    files = list(source.discover())
    assert [(os.path.basename(file.path), file.generation, file.provenance) for file in files] == [
        ("v0-raw.jsonl", 0, "original"),
        ("v2-pruned.jsonl", 2, "slimmed"),
        ("v10-pruned.jsonl", 10, "slimmed"),
    ]
    assert {(file.kind, file.session, file.immutable, file.host) for file in files} == {
        ("session", "S1", True, "claude")
    }
    assert source.problems() == [(str(session / "v4-pruned.jsonl"), "not a regular file")]
    (record,) = records(source, files[0])
    assert isinstance(record, Record)
    assert (record.uid, record.session) == ("u", "S1")


def test_a_folder_of_generations_that_is_missing_is_a_problem(tmp_path: Path) -> None:
    source = GenerationFolder([tmp_path / "none"])
    assert list(source.discover()) == []
    assert source.problems() == [(str(tmp_path / "none"), "No such file or directory")]


def age(folder: Path, seconds: int) -> None:
    moment = time.time() - seconds
    os.utime(folder, (moment, moment))


def test_a_backup_that_comes_later_is_found_by_the_same_source(tmp_path: Path) -> None:
    session = tmp_path / "file-history" / "S1"
    put(session / "aa@v1", b"one")
    age(session, 60)
    source = ClaudeSource([tmp_path])
    assert list(found(source)) == ["aa@v1"]
    put(session / "aa@v2", b"two")
    age(session, 30)
    assert list(found(source)) == ["aa@v1", "aa@v2"]
    (session / "aa@v1").unlink()
    age(session, 20)
    assert list(found(source)) == ["aa@v2"]


def test_a_folder_of_backups_that_is_as_it_was_is_not_listed_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settled, fresh = tmp_path / "file-history" / "S1", tmp_path / "file-history" / "S2"
    put(settled / "aa@v1", b"one")
    put(fresh / "bb@v1", b"one")
    age(settled, 60)
    source = ClaudeSource([tmp_path])
    first = found(source)
    listed: list[str] = []
    scandir = os.scandir
    monkeypatch.setattr(os, "scandir", lambda folder: listed.append(str(folder)) or scandir(folder))
    assert found(source) == first
    assert str(fresh) in listed, "its clock may not have ticked since"
    assert str(settled) not in listed


def test_a_folder_of_backups_with_a_link_is_always_listed(tmp_path: Path) -> None:
    session = tmp_path / "file-history" / "S1"
    put(session / "aa@v1", b"one")
    (session / "bb@v1").symlink_to(session / "aa@v1")
    age(session, 60)
    source = ClaudeSource([tmp_path])
    assert list(found(source)) == ["aa@v1", "bb@v1"]
    put(session / "aa@v1", b"grown")
    assert {file.size for file in found(source).values()} == {5}
