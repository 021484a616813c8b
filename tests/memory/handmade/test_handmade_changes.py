"""Files that people changed with an editor are seen, checked, and committed by the will of their owner."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from clones import Corpus, corpus, memory

from fabula.kernel.errors import FabulaError
from fabula.memory.handmade.changes import changes_of
from fabula.memory.handmade.commit import commit_changes

AT = "1780000000 +0000"
A, B = "areas/inbox/a.html", "areas/inbox/b.html"


@pytest.fixture
def here(tmp_path: Path) -> Corpus:
    return corpus(tmp_path, {A: memory("a fact"), B: memory("b fact"), "README.html": "read me"})


def test_every_way_of_changing_a_file_by_hand_is_seen(here: Corpus) -> None:
    here.write(A, memory("a fact", tags=["t"]))
    here.move(B, "archive/2026/areas/inbox/b.html", memory("b fact", status="archived"))
    here.write("projects/new/folder/c.html", memory("c fact"))
    here.git("add", "projects")
    here.write("projects/new/folder/d.html", memory("d fact"))
    here.write("projects/index.html", "generated")
    here.write("README.html", "changed")
    here.write("loose.txt", "mine")
    with here.repo() as repo:
        found = changes_of(repo)
        below = changes_of(repo, ["projects"])
    assert [(one.kind, one.path, one.before) for one in found] == [
        ("R", "archive/2026/areas/inbox/b.html", B),
        ("M", A, ""),
        ("A", "projects/new/folder/c.html", ""),
        ("A", "projects/new/folder/d.html", ""),
    ]
    assert len(below) == 2


def test_exactly_the_changed_memories_are_one_commit(here: Corpus) -> None:
    here.write(A, memory("a fact", tags=["t"]))
    (here.root / B).unlink()
    here.write("projects/new/c.html", memory("c fact"))
    here.write("README.html", "changed")
    here.write("staged.txt", "mine")
    here.git("add", "staged.txt")
    with here.repo() as repo:
        done = commit_changes(repo, [], AT, session="s-1")
        assert done.committed is not None
        assert commit_changes(repo, [], AT).committed is None
    assert here.git("diff-tree", "-r", "--name-status", "HEAD^", "HEAD").split() == [
        "M", A, "D", B, "A", "projects/new/c.html",
    ]  # fmt: skip
    assert here.status() == [" M README.html", "A  staged.txt"]
    assert here.git("log", "-1", "--format=%B") == "memhtml(batch): 3 memories by hand\n\nMemhtml-Session: s-1"


@pytest.mark.parametrize("stages", [False, True])
def test_subjects_say_what_was_done(here: Corpus, stages: bool) -> None:
    subjects = []
    for path, text in ((A, memory("a fact", tags=["t"])), ("areas/inbox/c.html", memory("c fact"))):
        here.write(path, text)
        if stages:
            here.git("add", "--all")
        with here.repo() as repo:
            commit_changes(repo, [f"/{path}"], AT)
        subjects += here.subjects()[:1]
    here.move(A, f"archive/2026/{A}", memory("a fact", status="archived"))
    with here.repo() as repo:
        commit_changes(repo, [], AT)
    subjects += here.subjects()[:1]
    assert subjects == ["memhtml(edit): a fact", "memhtml(write): c fact", "memhtml(archive): a fact"]
    assert here.status() == []


def test_a_file_that_breaks_the_format_is_named_with_its_line_and_nothing_is_committed(here: Corpus) -> None:
    here.write(A, memory("a fact").replace("<mark>", "").replace("</mark>", ""))
    here.write(B, memory("b fact", tags=["t"]))
    before = here.git("rev-parse", "HEAD")
    with here.repo() as repo:
        with pytest.raises(FabulaError) as caught:
            commit_changes(repo, [], AT)
        assert caught.value.code == "ERR_MEMORY_FORMAT"
        assert f"{A}:" in caught.value.message
        assert caught.value.suggestions[-1] == f"fabula memory commit {B}"
        assert here.git("rev-parse", "HEAD") == before
        assert commit_changes(repo, [B], AT).committed is not None
        with pytest.raises(FabulaError) as nothing:
            commit_changes(repo, [B], AT)
    assert nothing.value.code == "ERR_NOT_FOUND"
    assert here.status() == [f" M {A}"]


def test_what_changed_since_it_was_looked_at_is_not_committed(here: Corpus) -> None:
    here.write(A, memory("a fact", tags=["t"]))
    with here.repo() as repo:
        seen = changes_of(repo)
        here.write(A, memory("a fact", tags=["again"]))
        with pytest.raises(FabulaError) as caught:
            commit_changes(repo, [], AT, expected=seen)
        assert caught.value.code == "ERR_CHANGED"
        assert here.status() == [f" M {A}"]
        assert commit_changes(repo, [], AT, expected=changes_of(repo)).committed is not None


def test_a_file_in_an_unfinished_merge_is_refused(here: Corpus) -> None:
    here.git("switch", "--quiet", "--create", "side")
    here.write(A, memory("one"))
    here.commit("one")
    here.git("switch", "--quiet", "main")
    here.write(A, memory("two"))
    here.commit("two")
    here.git("merge", "side", check=False)
    with here.repo() as repo, pytest.raises(FabulaError) as caught:
        commit_changes(repo, [], AT)
    assert caught.value.code == "ERR_DIRTY"


def test_the_first_commit_of_a_corpus_may_be_made_by_hand(tmp_path: Path) -> None:
    empty = corpus(tmp_path, {})
    empty.write(A, memory("a fact"))
    with empty.repo() as repo:
        assert commit_changes(repo, [], AT).committed is not None
    assert empty.status() == []
