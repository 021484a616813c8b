"""Two clones that went apart become one: by values in heads, by sides for articles, with every conflict named."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from clones import Corpus, corpus, memory

from fabula.kernel.errors import FabulaError
from fabula.memory.format.reader import read
from fabula.memory.merging.merge import merge
from fabula.memory.merging.values import MergeConflict, Merged

AT = "1780000000 +0000"
A, B, C = "areas/inbox/a.html", "areas/inbox/b.html", "areas/inbox/c.html"
FILED = "archive/2026/areas/inbox/a.html"
LATER, LATEST = "2026-02-01T10:00:00Z", "2026-03-01T10:00:00Z"


@pytest.fixture
def sides(tmp_path: Path) -> tuple[Corpus, Corpus]:
    ours = corpus(tmp_path / "ours", {A: memory("a fact"), B: memory("b fact"), "README.html": "1\n2\n3\n4\n5\n"})
    return ours, ours.clone("theirs")


def merged(ours: Corpus, theirs: Corpus) -> Merged:
    ours.git("fetch", "--quiet", str(theirs.root), "HEAD:refs/remotes/other/main", "--force")
    with ours.repo() as repo:
        return merge(repo, "other/main", AT, session="s-9")


def refused(ours: Corpus, theirs: Corpus) -> MergeConflict:
    before = ours.git("rev-parse", "HEAD"), ours.status()
    with pytest.raises(MergeConflict) as caught:
        merged(ours, theirs)
    assert (ours.git("rev-parse", "HEAD"), ours.status()) == before
    assert ours.git("ls-files", "--unmerged") == ""
    assert not (ours.root / ".git" / "index.lock").exists()
    return caught.value


def clean(someone: Corpus) -> None:
    assert someone.status() == []
    assert someone.git("fsck", "--strict") == ""


def test_disjoint_changes_are_one_commit_with_two_parents(sides: tuple[Corpus, Corpus]) -> None:
    ours, theirs = sides
    ours.write(C, memory("c fact"))
    one = ours.commit("c")
    theirs.write("projects/x/d.html", memory("d fact"))
    (theirs.root / B).unlink()
    other = theirs.commit("d")
    done = merged(ours, theirs)
    assert (done.kind, done.theirs, done.changed, done.removed) == ("merge", other, ("projects/x/d.html",), (B,))
    assert ours.git("log", "-1", "--format=%P") == f"{one} {other}"
    assert ours.git("log", "-1", "--format=%B") == "memhtml(merge): other/main\n\nMemhtml-Session: s-9"
    assert ours.git("ls-files").split() == ["README.html", A, C, "projects/x/d.html"]
    clean(ours)
    assert merged(ours, theirs).kind == "already"


def test_a_branch_that_is_merely_behind_goes_on_without_a_commit(sides: tuple[Corpus, Corpus]) -> None:
    ours, theirs = sides
    theirs.move(A, FILED, memory("a fact", status="archived"))
    other = theirs.commit("archived")
    done = merged(ours, theirs)
    assert (done.kind, done.commit) == ("forward", other)
    assert ours.git("rev-parse", "HEAD") == other
    clean(ours)


def test_an_unborn_branch_takes_the_other_as_it_is(tmp_path: Path, sides: tuple[Corpus, Corpus]) -> None:
    empty = corpus(tmp_path / "empty", {})
    assert merged(empty, sides[1]).kind == "forward"
    clean(empty)


def test_tags_and_links_of_both_sides_are_there_and_what_a_side_took_away_is_not(
    sides: tuple[Corpus, Corpus],
) -> None:
    ours, theirs = sides
    ours.write(A, memory("a fact", tags=["old", "kept"], links=[("relates-to", f"/{B}")]))
    ours.commit("before")
    theirs.git("pull", "--quiet", "--ff-only")
    ours.write(A, memory("a fact", tags=["kept", "ours"], updated=LATER, importance="3"))
    ours.commit("ours")
    links = [("relates-to", f"/{B}"), ("supports", f"/{B}")]
    theirs.write(A, memory("a fact", tags=["old", "kept", "theirs"], links=links, updated=LATEST, importance="9"))
    theirs.commit("theirs")
    merged(ours, theirs)
    found = read(ours.text(A).encode())
    assert found.is_memory
    assert sorted(found.head.tags) == ["kept", "ours", "theirs"]
    assert [(link.rel, link.href) for link in found.links] == [("memhtml-supports", f"/{B}")]
    assert (found.head.updated, found.head.importance) == (LATEST, 9)
    clean(ours)


def test_an_article_that_one_side_changed_keeps_the_other_sides_head(sides: tuple[Corpus, Corpus]) -> None:
    ours, theirs = sides
    ours.write(A, memory("a better fact", title="a fact"))
    ours.commit("ours")
    theirs.write(A, memory("a fact", title="A new title", tags=["t"], valid_until=LATER))
    theirs.commit("theirs")
    merged(ours, theirs)
    found = read(ours.text(A).encode())
    assert (found.content.claim, found.title) == ("a better fact", "A new title")
    assert (found.head.tags, found.head.valid_until) == (("t",), LATER)


@pytest.mark.parametrize("archives", ["ours", "theirs"])
def test_a_memory_that_one_side_archived_and_the_other_changed_is_archived_as_changed(
    sides: tuple[Corpus, Corpus], archives: str
) -> None:
    filing, editing = sides if archives == "ours" else sides[::-1]
    filing.move(A, FILED, memory("a fact", status="archived", archived=LATER, superseded_by=f"/{C}"))
    filing.write(C, memory("a fact, corrected"))
    filing.commit("memhtml(correct): a fact, corrected")
    editing.write(A, memory("a fact", tags=["late"], updated=LATEST))
    editing.commit("memhtml(link): a fact")
    done = merged(*sides)
    ours = sides[0]
    assert sorted(ours.git("ls-files").split()) == sorted(["README.html", FILED, B, C])
    found = read(ours.text(FILED).encode()).head
    assert (found.status, found.tags, found.updated) == ("archived", ("late",), LATEST)
    assert any("archived by one side" in notice for notice in done.notices)
    clean(ours)


def test_a_memory_that_both_corrected_is_one_in_the_archive_and_both_successors_are_told(
    sides: tuple[Corpus, Corpus],
) -> None:
    for someone, path, archived in ((sides[0], B + "-1.html", LATER), (sides[1], B + "-2.html", LATEST)):
        text = memory("a fact", status="archived", archived=archived, valid_until=archived, superseded_by=f"/{path}")
        someone.move(A, FILED, text)
        someone.write(path, memory(f"corrected in {path}"))
        someone.commit("memhtml(correct): a fact")
    done = merged(*sides)
    found = read(sides[0].text(FILED).encode()).head
    assert (found.archived, found.valid_until) == (LATER, LATER)
    assert any("each side put another memory" in notice for notice in done.notices)
    assert {B + "-1.html", B + "-2.html"} <= set(sides[0].git("ls-files").split())


def test_what_was_archived_in_two_years_lies_in_the_earlier(sides: tuple[Corpus, Corpus]) -> None:
    sides[0].move(A, FILED.replace("2026", "2027"), memory("a fact", status="archived"))
    sides[0].commit("ours")
    sides[1].move(A, FILED, memory("a fact", status="archived"))
    sides[1].commit("theirs")
    done = merged(*sides)
    assert FILED in sides[0].git("ls-files").split()
    assert FILED.replace("2026", "2027") not in sides[0].git("ls-files").split()
    assert done.moved == ((FILED.replace("2026", "2027"), FILED),)
    clean(sides[0])


def test_all_conflicts_are_named_at_once_with_their_blobs_and_nothing_is_changed(
    sides: tuple[Corpus, Corpus],
) -> None:
    ours, theirs = sides
    for someone, word in ((ours, "ours"), (theirs, "theirs")):
        someone.write(A, memory(f"a fact as {word} have it"))
        someone.write(C, memory(f"c of {word}"))
        someone.write("README.html", f"1\n2\n{word}\n4\n5\n")
        someone.write(f"areas/fine/{word}.html", memory(word))
    (ours.root / B).unlink()
    theirs.write(B, memory("b fact, changed"))
    ours.commit("ours")
    theirs.commit("theirs")
    error = refused(ours, theirs)
    assert error.code == "ERR_WRITE_CONFLICT"
    assert {one.path: one.kind for one in error.conflicts} == {
        A: "article", B: "deleted_edited", C: "added_twice", "README.html": "content",
    }  # fmt: skip
    by_path = {one.path: one for one in error.conflicts}
    assert by_path[A].base == ours.git("rev-parse", f"HEAD^:{A}")
    assert by_path[A].ours == ours.git("rev-parse", f"HEAD:{A}")
    assert by_path[A].theirs == theirs.git("rev-parse", f"HEAD:{A}")
    assert (by_path[C].base, by_path[B].ours) == ("", "")
    assert all(path in error.message for path in by_path)
    for one in error.conflicts:
        for blob in filter(None, (one.base, one.ours, one.theirs)):
            assert ours.git("cat-file", "-t", blob) == "blob"


def test_types_titles_and_places_that_differ_are_conflicts_of_their_kind(sides: tuple[Corpus, Corpus]) -> None:
    ours, theirs = sides
    ours.write(A, memory("a fact", type="episodic"))
    theirs.write(A, memory("a fact", type="procedural"))
    ours.move(B, "projects/one/b.html", memory("b fact"))
    theirs.move(B, "projects/two/b.html", memory("b fact"))
    ours.commit("ours")
    theirs.commit("theirs")
    assert sorted(one.kind for one in refused(ours, theirs).conflicts) == ["moved_apart", "type"]


def test_one_fact_written_twice_is_one_memory_with_the_values_of_both(sides: tuple[Corpus, Corpus]) -> None:
    sides[0].write(C, memory("c fact", tags=["one"]))
    sides[0].commit("ours")
    sides[1].write(C, memory("c fact", tags=["two"], updated=LATER))
    sides[1].commit("theirs")
    merged(*sides)
    assert sorted(read(sides[0].text(C).encode()).head.tags) == ["one", "two"]


def test_lines_apart_of_other_files_merge_and_generated_pages_stay_ours(sides: tuple[Corpus, Corpus]) -> None:
    ours, theirs = sides
    ours.write("README.html", "one\n2\n3\n4\n5\n")
    theirs.write("README.html", "1\n2\n3\n4\nfive\n")
    ours.write("areas/index.html", "ours")
    theirs.write("areas/index.html", "theirs")
    ours.commit("ours")
    theirs.commit("theirs")
    merged(ours, theirs)
    assert ours.text("README.html") == "one\n2\n3\n4\nfive\n"
    assert ours.text("areas/index.html") == "ours"


def test_logs_are_unions_and_memhtmls_account_is_added_up(sides: tuple[Corpus, Corpus]) -> None:
    ours, theirs = sides
    log, account = ".fabula/state/r1/202601.jsonl", ".memhtml/state/access.jsonl"
    row = {"path": A, "accessCount": 5, "outcomeScore": 0.5, "updatedAt": LATER}
    ours.write(log, '{"at":1}\n')
    ours.write(account, json.dumps(row) + "\n")
    ours.commit("before")
    theirs.git("pull", "--quiet", "--ff-only")
    ours.write(log, '{"at":1}\n{"at":30}\n')
    theirs.write(log, '{"at":1}\n{"at":20}\n{"at":30}\n')
    ours.write(account, json.dumps(row | {"accessCount": 7}) + "\n")
    theirs.write(account, json.dumps(row | {"accessCount": 6, "outcomeScore": 1, "updatedAt": LATEST}) + "\n")
    ours.commit("ours")
    theirs.commit("theirs")
    merged(ours, theirs)
    assert ours.text(log) == '{"at":1}\n{"at":20}\n{"at":30}\n'
    assert json.loads(ours.text(account)) == row | {"accessCount": 8, "outcomeScore": 1, "updatedAt": LATEST}


def test_merging_either_way_gives_the_same_tree(sides: tuple[Corpus, Corpus]) -> None:
    ours, theirs = sides
    ours.write(A, memory("a fact", tags=["x"], confidence="0.5", body="more"))
    theirs.write(A, memory("a fact", tags=["y"], confidence="0.9", session="s"))
    ours.move(B, FILED.replace("a.html", "b.html"), memory("b fact", status="archived", reprieves="2"))
    theirs.write(B, memory("b fact", reprieves="3", links=[("supports", f"/{A}")]))
    ours.commit("ours")
    theirs.commit("theirs")
    for one, other in ((ours, theirs), (theirs, ours)):
        one.git("fetch", "--quiet", str(other.root), "HEAD:refs/remotes/other/main")
    for one in (ours, theirs):
        with one.repo() as repo:
            merge(repo, "other/main", AT)
    assert ours.git("rev-parse", "HEAD^{tree}") == theirs.git("rev-parse", "HEAD^{tree}")
    clean(ours)
    clean(theirs)


def test_a_persons_uncommitted_work_stops_a_merge_only_where_it_is_in_the_way(sides: tuple[Corpus, Corpus]) -> None:
    ours, theirs = sides
    theirs.write(A, memory("a fact", tags=["t"]))
    theirs.commit("theirs")
    ours.write(C, memory("c"))
    ours.commit("ours")
    ours.write(A, memory("a fact", tags=["mine"]))
    with pytest.raises(FabulaError) as caught:
        merged(ours, theirs)
    assert caught.value.code == "ERR_DIRTY"
    ours.git("checkout", "--quiet", "--", A)
    ours.write(B, memory("b fact", tags=["mine"]))
    ours.write("loose.html", "mine")
    assert merged(ours, theirs).kind == "merge"
    assert ours.status() == [f" M {B}", "?? loose.html"]


def test_a_merge_that_git_left_half_done_is_refused_with_both_ways_out(sides: tuple[Corpus, Corpus]) -> None:
    ours, theirs = sides
    ours.write(A, memory("one"))
    theirs.write(A, memory("two"))
    ours.commit("ours")
    theirs.commit("theirs")
    ours.git("fetch", "--quiet", str(theirs.root), "HEAD:refs/remotes/other/main")
    ours.git("merge", "other/main", check=False)
    with ours.repo() as repo, pytest.raises(FabulaError) as caught:
        merge(repo, "other/main", AT)
    assert caught.value.code == "ERR_GIT"
    assert A in caught.value.message
    assert "merge --abort" in caught.value.suggestions[0]
    ours.git("merge", "--abort")
    assert refused(ours, theirs).conflicts[0].path == A


def test_histories_that_share_nothing_and_names_of_nothing_are_refused(
    tmp_path: Path, sides: tuple[Corpus, Corpus]
) -> None:
    stranger = corpus(tmp_path / "stranger", {C: memory("c")})
    with pytest.raises(FabulaError) as caught:
        merged(sides[0], stranger)
    assert (caught.value.code, "share no commit" in caught.value.message) == ("ERR_GIT", True)
    with sides[0].repo() as repo, pytest.raises(FabulaError) as nothing:
        merge(repo, "nowhere", AT)
    assert nothing.value.code == "ERR_NOT_FOUND"


def test_branches_of_one_repository_with_other_ids_merge_alike(tmp_path: Path) -> None:
    ours = corpus(tmp_path / "one", {A: memory("a")}, "--object-format=sha256")
    ours.git("branch", "side")
    ours.write(B, memory("b"))
    ours.commit("b")
    ours.git("switch", "--quiet", "side")
    ours.write(C, memory("c"))
    ours.commit("c")
    ours.git("switch", "--quiet", "main")
    with ours.repo() as repo:
        assert merge(repo, "side", AT).changed == (C,)
    assert len(ours.git("rev-parse", "HEAD")) == 64
    clean(ours)
