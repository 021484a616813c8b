"""What is forgotten is nowhere in the repository any more, and everything else is as it was."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from clones import Corpus, corpus, memory

from fabula.kernel.errors import FabulaError
from fabula.memory.forgetting.forget import forget
from fabula.memory.forgetting.preview import preview
from fabula.memory.forgetting.values import Target
from fabula.memory.format.reader import read
from fabula.memory.merging.merge import merge

AT = "1780000000 +0000"
A, B, C = "areas/inbox/the-key-is-tabasco.html", "areas/inbox/b.html", "areas/inbox/c.html"
FILED = f"archive/2026/{A}"
SECRET = "The key of the safe is tabasco"
NEEDLES = ("tabasco",)


@pytest.fixture
def here(tmp_path: Path) -> Corpus:
    """A corpus in which a memory was written, changed, linked to, archived; with a branch, tags, a stash, a remote."""
    one = corpus(tmp_path, {B: memory("b fact"), "README.html": "read me"})
    one.write(A, memory(SECRET))
    one.commit(f"memhtml(write): {SECRET}\n\nMemhtml-Session: s-1")
    one.git("branch", "side")
    one.git("tag", "-a", "v1", "-m", f"with {SECRET}")
    one.git("tag", "light")
    one.write(B, memory("b fact", links=[("supports", f"/{A}")]))
    one.write(".fabula/state/r/202601.jsonl", f'{{"path":"{A}"}}\n{{"path":"{B}"}}\n')
    one.commit("memhtml(link): b fact")
    one.write(A, memory(SECRET, tags=["t"]))
    one.write(C, memory("c fact"))
    one.commit("memhtml(batch): 2 memories")
    one.git("clone", "--quiet", "--bare", str(one.root), str(tmp_path / "remote.git"))
    one.git("remote", "add", "origin", str(tmp_path / "remote.git"))
    one.git("fetch", "--quiet", "origin")
    one.move(A, FILED, memory(SECRET, status="archived"))
    one.commit(f"memhtml(archive): {SECRET}")
    one.write(C, memory("c fact", tags=["stashed"]))
    one.git("stash")
    return one


def everything_in(one: Corpus) -> bytes:
    """Return all bytes that git holds: objects of any kind, refs, logs, notes of messages, the index."""
    words = ("git", "-C", str(one.root), "cat-file", "--batch-all-objects", "--batch")
    objects = subprocess.run(words, capture_output=True, check=True, env=one.environ).stdout
    plain = [
        path.read_bytes()
        for path in sorted((one.root / ".git").rglob("*"))
        if path.is_file() and "objects" not in path.relative_to(one.root / ".git").parts
    ]
    files = [path.read_bytes() for path in one.root.rglob("*.*") if path.is_file() and ".git" not in path.parts]
    return b"\n".join([objects, *plain, *files])


def forgotten(one: Corpus, *paths: str, text: str = "") -> object:
    target = Target(paths, text)
    with one.repo() as repo:
        return forget(repo, target, AT, agreed=preview(repo, target))


def sound(one: Corpus) -> None:
    assert one.git("fsck", "--full", "--strict", "--no-dangling") == ""
    assert not (one.root / ".git" / "index.lock").exists()
    assert not (one.root / ".git" / "fabula" / "replacing").exists()
    assert not (one.root / ".git" / "fabula" / "staging").exists()


@pytest.mark.parametrize("named", [A, FILED, f"/{A}"])
def test_a_forgotten_memory_is_nowhere_in_the_repository(here: Corpus, named: str) -> None:
    kept = here.git("rev-parse", f"HEAD:{C}"), here.git("log", "--format=%an %ad %s", "HEAD~4")
    done = forgotten(here, named)
    assert b"tabasco" not in everything_in(here)
    assert done.still == ()  # type: ignore[attr-defined]
    assert here.subjects() == [
        "memhtml(forget): 1 memory", "memhtml(batch): 2 memories", "memhtml(link): b fact", "first",
    ]  # fmt: skip
    assert (here.git("rev-parse", f"HEAD:{C}"), here.git("log", "--format=%an %ad %s", "HEAD~3")) == kept
    assert here.git("ls-files").split() == [".fabula/state/r/202601.jsonl", "README.html", B, C]
    assert here.text(".fabula/state/r/202601.jsonl") == f'{{"path":"{B}"}}\n'
    assert read(here.text(B).encode()).links == ()
    assert here.status() == []
    sound(here)


def test_branches_tags_and_the_stash_are_written_anew(here: Corpus) -> None:
    forgotten(here, A)
    assert here.git("ls-tree", "-r", "--name-only", "side").split() == ["README.html", B]
    assert here.git("cat-file", "-t", "v1") == "tag"
    assert "with (forgotten)" in here.git("cat-file", "tag", "v1")
    assert here.git("rev-parse", "v1^{commit}") == here.git("rev-parse", "light") == here.git("rev-parse", "side")
    assert here.git("stash", "list").startswith("stash@{0}: WIP on main")
    here.git("stash", "pop")
    assert read(here.text(C).encode()).head.tags == ("stashed",)
    sound(here)


def test_a_preview_says_what_goes_and_changes_nothing(here: Corpus) -> None:
    before = here.git("show-ref"), everything_in(here)
    with here.repo() as repo:
        said = preview(repo, Target((A,)))
    assert said.paths == (FILED, A) if FILED < A else (A, FILED)
    assert (said.versions, said.commits >= 4, said.stashes) == (3, True, 1)
    assert said.citing == (B,)
    assert set(said.refs) == {"refs/heads/main", "refs/heads/side", "refs/tags/v1", "refs/tags/light", "refs/stash"}
    assert [one.ref for one in said.remotes if one.ref.startswith("refs/heads")] == [
        "refs/heads/main",
        "refs/heads/side",
    ]
    assert before[0] == here.git("show-ref")
    assert before[1] == everything_in(here)


def test_the_commands_that_are_named_clear_the_remote_too(here: Corpus, tmp_path: Path) -> None:
    done = forgotten(here, A)
    for one in done.remotes:  # type: ignore[attr-defined]
        subprocess.run(one.command, shell=True, check=True, capture_output=True, env=here.environ)
    remote = tmp_path / "remote.git"
    words = ("git", "-C", str(remote), "log", "--all", "-p", "--format=%B", "--name-only")
    assert b"tabasco" not in subprocess.run(words, capture_output=True, check=True, env=here.environ).stdout
    here.git("push", "--quiet", "origin", "main")


def test_a_text_is_forgotten_in_every_version_that_holds_it_and_in_messages(tmp_path: Path) -> None:
    one = corpus(tmp_path, {A.replace("the-key-is-tabasco", "a"): memory("a fact"), "notes.txt": "x\nis tabasco\n"})
    path = "areas/inbox/a.html"
    one.write(path, memory("a fact", body="and the key is &lt;tabasco&gt;"))
    one.commit("the key is <tabasco>")
    one.write(path, memory("a fact", body="and nothing"))
    last = one.commit("nothing")
    done = forgotten(one, text="tabasco")
    assert b"tabasco" not in everything_in(one)
    assert done.versions == 1  # type: ignore[attr-defined]
    assert one.git("rev-parse", f"HEAD:{path}") != last
    assert one.text(path) == memory("a fact", body="and nothing")
    assert one.text("notes.txt") == "x\nis (forgotten)\n"
    assert one.subjects() == ["memhtml(forget): some versions", "nothing", "the key is <(forgotten)>", "first"]
    sound(one)


def test_a_clone_that_still_has_it_does_not_bring_it_back(here: Corpus) -> None:
    clone = here.clone("two")
    clone.write("areas/e.html", memory("e fact"))
    clone.commit("e")
    forgotten(here, A)
    here.git("fetch", "--quiet", str(clone.root), "main:refs/remotes/two/main")
    with here.repo() as repo, pytest.raises(FabulaError) as caught:
        merge(repo, "two/main", AT)
    assert caught.value.code == "ERR_FORGOTTEN"
    assert here.subjects()[0] == "memhtml(forget): 1 memory"
    here.git("branch", "later", "HEAD^")
    with here.repo() as repo:
        assert merge(repo, "later", AT).kind == "already"


def test_a_merged_history_keeps_its_shape(tmp_path: Path) -> None:
    one = corpus(tmp_path, {B: memory("b fact")})
    one.git("switch", "--quiet", "--create", "side")
    one.write(A, memory(SECRET))
    one.write(C, memory("c fact"))
    one.commit("two")
    one.git("switch", "--quiet", "main")
    one.write("areas/d.html", memory("d fact"))
    one.commit("d")
    one.git("merge", "--quiet", "--no-ff", "-m", "joined", "side")
    forgotten(one, A)
    assert len(one.git("log", "-1", "--format=%P", "HEAD^").split()) == 2
    assert one.git("ls-files").split() == ["areas/d.html", B, C]
    assert b"tabasco" not in everything_in(one)
    sound(one)


def test_other_work_trees_shallow_clones_and_half_done_merges_are_refused_before_anything_changes(
    here: Corpus, tmp_path: Path
) -> None:
    here.git("worktree", "add", "--quiet", str(tmp_path / "linked"), "side")
    with pytest.raises(FabulaError) as caught:
        forgotten(here, A)
    assert str(tmp_path / "linked") in caught.value.message
    assert caught.value.suggestions[0].endswith(f"worktree remove {tmp_path / 'linked'}")
    here.git("worktree", "remove", str(tmp_path / "linked"))
    (here.root / ".git" / "MERGE_HEAD").write_text(here.git("rev-parse", "HEAD"))
    with pytest.raises(FabulaError) as busy:
        forgotten(here, A)
    assert busy.value.code == "ERR_GIT"
    (here.root / ".git" / "MERGE_HEAD").unlink()
    cut = Corpus(tmp_path / "cut" / "corpus") if (tmp_path / "cut").mkdir() is None else here
    here.git("clone", "--quiet", "--depth", "1", f"file://{here.root}", str(cut.root))
    with pytest.raises(FabulaError) as shallow:
        forgotten(cut, FILED)
    assert "unshallow" in shallow.value.suggestions[0]


def test_a_persons_change_of_the_file_is_not_lost_by_a_forgetting(here: Corpus) -> None:
    here.write(FILED, memory(SECRET, status="archived", tags=["mine"]))
    before = here.git("show-ref")
    with pytest.raises(FabulaError) as caught:
        forgotten(here, A)
    assert caught.value.code == "ERR_DIRTY"
    assert here.git("show-ref") == before
    sound(here)


def test_what_is_nowhere_and_what_is_too_short_is_refused(here: Corpus) -> None:
    for target, code in (
        (Target(("areas/no.html",)), "ERR_NOT_FOUND"),
        (Target(text="nowhere at all"), "ERR_NOT_FOUND"),
        (Target(text="a"), "ERR_USAGE"),
        (Target(), "ERR_USAGE"),
    ):
        with here.repo() as repo, pytest.raises(FabulaError) as caught:
            preview(repo, target)
        assert caught.value.code == code


def test_what_changed_since_a_person_agreed_is_not_forgotten(here: Corpus) -> None:
    with here.repo() as repo:
        agreed = preview(repo, Target((A,)))
        here.write("areas/e.html", memory("e", links=[("supports", f"/{A}")]))
        here.commit("e")
        with pytest.raises(FabulaError) as caught:
            forget(repo, Target((A,)), AT, agreed=agreed)
    assert caught.value.code == "ERR_CHANGED"
