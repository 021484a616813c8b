"""Folders of commits are read once and kept, within a bound; what is kept never stands for anything else."""

from __future__ import annotations

from pathlib import Path

from gitcorpus import AT, made
from hypothesis import given
from hypothesis import strategies as st

from fabula.storage.git.paths import folded
from fabula.storage.git.trees import Folders
from fabula.storage.git.values import Entry, Put


def entries(count: int) -> dict[str, Entry]:
    return {f"n{number}": Entry("100644", "0" * 40) for number in range(count)}


def test_what_was_not_used_for_longest_goes_first_and_one_folder_is_always_kept() -> None:
    folders = Folders(most_entries=10)
    for name in ("a", "b"):
        folders.keep(name, entries(4))
    assert folders.get("a") is not None
    folders.keep("c", entries(4))
    assert [folders.get(name) is not None for name in "abc"] == [True, False, True]
    folders.keep("large", entries(50))
    assert [folders.get(name) is not None for name in ("a", "c", "large")] == [False, False, True]


def test_commits_of_one_process_read_no_folder_twice_and_see_what_others_committed(tmp_path: Path) -> None:
    person = made(tmp_path, files={"areas/a/x.html": "x", "areas/b/y.html": "y"})
    with person.repo() as repo:
        asked: list[str] = []
        data = repo.shop.reader.data

        def counted(name: str, kind: str) -> bytes:
            asked.append(kind)
            return data(name, kind)

        repo.shop.reader.data = counted  # type: ignore[method-assign]
        repo.commit([Put("areas/a/one.html", b"1")], "one", AT)
        read = asked.count("tree")
        repo.commit([Put("areas/a/two.html", b"2")], "two", AT)
        assert asked.count("tree") == read
        person.write("areas/a/theirs.html", "t")
        person.git("add", "-A")
        person.git("commit", "-qm", "theirs")
        repo.commit([Put("areas/b/three.html", b"3")], "three", AT)
    names = person.git("ls-tree", "-r", "--name-only", "HEAD").splitlines()
    assert names == [f"areas/{name}.html" for name in ("a/one", "a/theirs", "a/two", "a/x", "b/three", "b/y")]


@given(st.text(alphabet=st.characters(max_codepoint=127), max_size=20))
def test_folding_of_plain_names_is_that_of_all_names(name: str) -> None:
    assert folded(name) == folded(name + "é").removesuffix(folded("é"))
