"""Finding files: what cannot be looked into is reported and costs nothing else."""

from __future__ import annotations

import os

import pytest

from fabula.hosts import walking
from fabula.hosts.walking import Walker, source_file


def names(walker, folder):
    return [os.path.relpath(path, folder) for path, _ in walker.files(str(folder), (".jsonl",))]


def write(path):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"{}\n")


def test_files_come_in_the_order_of_their_names(tmp_path):
    for name in ("b/2.jsonl", "b/1.jsonl", "a.jsonl", "c/notes.txt"):
        write(tmp_path / name)
    assert names(Walker(), tmp_path) == ["a.jsonl", "b/1.jsonl", "b/2.jsonl"]


@pytest.mark.parametrize("refused", ["scandir", "stat"])
def test_a_folder_that_cannot_be_read_is_a_problem_and_its_neighbours_are_found(tmp_path, monkeypatch, refused):
    write(tmp_path / "a" / "1.jsonl")
    write(tmp_path / "b" / "2.jsonl")
    real = getattr(os, refused)

    def refuse(path, *arguments, **options):
        if str(path).endswith(f"{os.sep}a"):
            raise PermissionError(13, "Permission denied", path)
        return real(path, *arguments, **options)

    monkeypatch.setattr(os, refused, refuse)
    walker = Walker()
    assert names(walker, tmp_path) == ["b/2.jsonl"]
    assert walker.problems == [(str(tmp_path / "a"), "Permission denied")]
    assert walker.folders(str(tmp_path / "a")) in ([], ["a"])
    assert walker.one(str(tmp_path / "a")) is None


def test_folders_nested_beyond_the_limit_are_reported(tmp_path, monkeypatch):
    monkeypatch.setattr(walking, "DEPTH_LIMIT", 1)
    write(tmp_path / "a" / "b" / "1.jsonl")
    write(tmp_path / "a" / "2.jsonl")
    walker = Walker()
    assert names(walker, tmp_path) == ["a/2.jsonl"]
    assert walker.problems == [(str(tmp_path / "a" / "b"), "nested too deeply")]


def test_links_to_nothing_pipes_and_folders_with_a_files_name_are_no_files(tmp_path):
    os.symlink(tmp_path / "gone.jsonl", tmp_path / "link.jsonl")
    os.mkfifo(tmp_path / "pipe.jsonl")
    (tmp_path / "folder.jsonl").mkdir()
    walker = Walker()
    assert names(walker, tmp_path) == []
    assert walker.problems == []
    assert walker.one(str(tmp_path / "folder.jsonl")) is None
    assert walker.one(str(tmp_path / "gone.jsonl")) is None
    assert walker.folders(str(tmp_path / "none")) == []


def test_a_found_file_is_described_by_its_stat(tmp_path):
    write(tmp_path / "a.jsonl")
    walker = Walker()
    ((path, found),) = walker.files(str(tmp_path), (".jsonl",))
    file = source_file("codex", path, "session", "s", found, parent="p")
    assert (file.size, file.mtime_ns, file.inode) == (3, found.st_mtime_ns, found.st_ino)
    assert (file.session, file.parent_session, file.generation) == ("s", "p", -1)
