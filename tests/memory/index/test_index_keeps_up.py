"""The index says what is in the commits and in the work tree, whoever changed it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from indexed import Shelf, contents, found, link, memory, paths

from fabula.storage.git.values import Move, Put, Remove

A, B, C = "areas/inbox/a.html", "areas/inbox/b.html", "projects/ledger/c.html"


@pytest.fixture
def shelf(empty: Shelf) -> Shelf:
    empty.commit(
        **{A: memory("Drain the pool first."), B: memory("Pause the replica."), C: memory("Exports run at night.")}
    )
    return empty


def test_a_first_look_takes_everything_in(shelf: Shelf) -> None:
    with shelf.open() as index:
        report = index.refresh()
        assert report.rebuilt
        assert report.added == [A, B, C]
        assert paths(index) == [A, B, C]
        assert index.refresh().unchanged


def test_an_unborn_head_has_a_work_tree_already(empty: Shelf) -> None:
    shelf = empty
    with shelf.open() as index:
        assert index.refresh().head == ""
        shelf.put(A, memory("Drain the pool first."))
        assert index.refresh().added == [A]
        shelf.commit()
        assert index.refresh().unchanged
        row = index.file(A)
        assert row is not None
        assert not row.dirty


def test_an_uncommitted_edit_is_seen_and_its_revert_as_well(shelf: Shelf) -> None:
    with shelf.open() as index:
        index.refresh()
        shelf.put(A, memory("Drain the cistern first."))
        assert index.refresh().modified == [A]
        assert found(index, "cistern") == [A]
        assert found(index, "pool") == []
        shelf.git("checkout", "--quiet", "--", A)
        assert index.refresh().modified == [A]
        assert found(index, "cistern") == []
        assert found(index, "pool") == [A]


def test_a_committed_edit_that_was_seen_already_changes_no_memory(shelf: Shelf) -> None:
    with shelf.open() as index:
        index.refresh()
        shelf.put(A, memory("Drain the cistern first."))
        index.refresh()
        assert index.status().dirty == 1
        head = shelf.commit()
        report = index.refresh()
        assert report.unchanged
        assert report.head == head
        assert index.status().dirty == 0


def test_a_file_in_a_new_untracked_folder_is_found_and_forgotten_when_it_is_deleted(shelf: Shelf) -> None:
    with shelf.open() as index:
        index.refresh()
        new = shelf.put("resources/deep/down/n.html", memory("New folders are seen."))
        assert index.refresh().added == ["resources/deep/down/n.html"]
        new.unlink()
        new.parent.rmdir()
        assert index.refresh().removed == ["resources/deep/down/n.html"]
        assert paths(index) == [A, B, C]


def test_a_deleted_file_is_not_served_and_comes_back_when_it_is_restored(shelf: Shelf) -> None:
    with shelf.open() as index:
        index.refresh()
        (shelf.root / A).unlink()
        assert index.refresh().removed == [A]
        shelf.git("checkout", "--quiet", "--", A)
        assert index.refresh().added == [A]
        assert found(index, "pool") == [A]


def test_a_whole_folder_that_is_deleted_and_restored(shelf: Shelf) -> None:
    with shelf.open() as index:
        index.refresh()
        for name in (A, B):
            (shelf.root / name).unlink()
        (shelf.root / "areas/inbox").rmdir()
        (shelf.root / "areas").rmdir()
        assert index.refresh().removed == [A, B]
        assert index.refresh().unchanged
        shelf.git("checkout", "--quiet", "--", ".")
        assert index.refresh().added == [A, B]


def test_a_rename_that_is_staged_and_not_committed_moves_the_memory(shelf: Shelf) -> None:
    with shelf.open() as index:
        index.refresh()
        shelf.git("mv", A, "areas/moved.html")
        report = index.refresh()
        assert report.moved == [(A, "areas/moved.html")]
        assert not report.added
        assert not report.removed
        shelf.commit()
        assert index.refresh().unchanged
        assert [(move.old, move.new) for move in index.moves_after(0)] == [(A, "areas/moved.html")]
        assert index.resolve(A) == "areas/moved.html"


def test_a_file_that_stops_being_a_memory_is_not_served_and_says_why(shelf: Shelf) -> None:
    with shelf.open() as index:
        index.refresh()
        shelf.put(A, b"<p>no memory</p>")
        report = index.refresh()
        assert report.removed == [A]
        assert report.problems == 1
        (problem,) = index.problems()
        assert (problem.path, problem.kind) == (A, "broken")
        assert problem.fix
        assert found(index, "pool") == []
        shelf.put(A, memory("Drain the pool first."))
        assert index.refresh().added == [A]
        assert index.problems() == []


def test_two_files_with_one_fact_are_both_there_and_reported(shelf: Shelf) -> None:
    with shelf.open() as index:
        index.refresh()
        shelf.put("projects/other/copy.html", (shelf.root / A).read_bytes())
        shelf.commit()
        assert index.refresh().added == ["projects/other/copy.html"]
        assert index.duplicates() == [[A, "projects/other/copy.html"]]
        assert index.refresh().unchanged


def test_two_files_that_swap_their_bodies_in_one_commit(shelf: Shelf) -> None:
    with shelf.open() as index:
        index.refresh()
        one, other = (shelf.root / A).read_bytes(), (shelf.root / B).read_bytes()
        shelf.commit(**{A: other, B: one})
        assert index.refresh().modified == [A, B]
        assert found(index, "pool") == [B]
        assert found(index, "replica") == [A]


def test_equal_text_with_other_values_is_two_facts(shelf: Shelf) -> None:
    forty = '<p>At most <data value="{}">forty</data> minutes.</p>'
    shelf.commit(**{A: memory("A limit.", forty.format(40)), B: memory("A limit.", forty.format(4))})
    with shelf.open() as index:
        index.refresh()
        assert index.duplicates() == []
        assert index.near_duplicates() == [[A, B]]


def test_conflict_markers_keep_a_file_out(shelf: Shelf) -> None:
    with shelf.open() as index:
        index.refresh()
        both = memory("Ours.", "\n<<<<<<< HEAD\n<p>one</p>\n=======\n<p>two</p>\n>>>>>>> theirs\n")
        shelf.put(A, both)
        index.refresh()
        assert [(one.path, one.kind) for one in index.problems()] == [(A, "conflict")]


def test_ignored_files_are_not_served_until_the_rule_goes(shelf: Shelf) -> None:
    with shelf.open() as index:
        (shelf.root / ".gitignore").write_text("draft-*.html\n")
        draft = "areas/inbox/draft-x.html"
        shelf.put(draft, memory("A draft."))
        index.refresh()
        assert draft not in paths(index)
        assert index.refresh().unchanged
        (shelf.root / ".gitignore").write_text("# nothing\n")
        assert index.refresh().added == [draft]
        (shelf.root / ".gitignore").write_text("draft-*.html\n# again\n")
        assert index.refresh().removed == [draft]


def test_links_and_nested_repositories_are_not_followed(shelf: Shelf, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.html").write_bytes(memory("Outside."))
    (shelf.root / "areas" / "link").symlink_to(outside, target_is_directory=True)
    (shelf.root / "areas" / "one.html").symlink_to(outside / "secret.html")
    shelf.put("areas/nested/n.html", memory("Nested."))
    (shelf.root / "areas/nested/.git").mkdir()
    with shelf.open() as index:
        index.refresh()
        assert paths(index) == [A, B, C]
        assert [(one.path, one.kind) for one in index.problems()] == [("areas/one.html", "not_a_file")]
        assert index.refresh().unchanged


def test_a_tracked_folder_that_became_a_link_leads_nowhere(shelf: Shelf, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a.html").write_bytes(memory("Outside."))
    with shelf.open() as index:
        index.refresh()
        for name in (A, B):
            (shelf.root / name).unlink()
        (shelf.root / "areas/inbox").rmdir()
        (shelf.root / "areas/inbox").symlink_to(outside, target_is_directory=True)
        assert index.refresh().removed == [A, B]


def test_names_that_are_no_text_do_no_harm(shelf: Shelf) -> None:
    name = os.fsencode(shelf.root) + b"/areas/\xff.html"
    with open(name, "wb") as stream:
        stream.write(memory("Odd."))
    with shelf.open() as index:
        index.refresh()
        assert paths(index) == [A, B, C]
        shelf.commit()
        index.refresh()
        assert paths(index) == [A, B, C]


def test_history_may_be_rewritten_under_the_index(shelf: Shelf) -> None:
    with shelf.open() as index:
        index.refresh()
        shelf.commit(**{A: memory("Drain the cistern first.")})
        index.refresh()
        shelf.git("reset", "--quiet", "--hard", "HEAD~1")
        assert index.refresh().modified == [A]
        shelf.commit(**{B: memory("Another history.")})
        index.refresh()
        shelf.git("reset", "--quiet", "--hard", "HEAD~1")
        shelf.git("reflog", "expire", "--expire=now", "--all")
        shelf.git("gc", "--quiet", "--prune=now")
        assert index.refresh().modified == [B]
        assert found(index, "replica") == [B]


def test_a_sparse_checkout_serves_what_it_leaves_out(shelf: Shelf) -> None:
    with shelf.open() as index:
        index.refresh()
        shelf.git("sparse-checkout", "set", "--no-cone", "/projects/")
        assert not (shelf.root / A).exists()
        assert index.refresh().unchanged
        assert paths(index) == [A, B, C]
        assert index.refresh().unchanged
        before = contents(index)
        index.rebuild()
        assert contents(index) == before


def test_line_ends_that_git_converts_are_no_change(shelf: Shelf) -> None:
    shelf.git("config", "core.autocrlf", "true")
    with shelf.open() as index:
        index.refresh()
        shelf.put(A, (shelf.root / A).read_bytes().replace(b"\n", b"\r\n"))
        assert index.refresh().unchanged
        assert index.status().dirty == 0


def test_the_store_tells_what_it_committed_and_nothing_is_searched(shelf: Shelf) -> None:
    with shelf.open() as index:
        index.refresh()
        shelf.put("areas/unseen.html", memory("Not looked at."))
        done, told = shelf.store(Put("areas/new.html", memory("Told.")), Move(A, "archive/2026/" + A), Remove(B, ""))
        report = index.took(done, told)
        assert report.added == ["areas/new.html"]
        assert report.removed == [B]
        assert report.moved == [(A, "archive/2026/" + A)]
        assert report.head == done.id
        assert index.moves_after(0) == []
        assert index.refresh().added == ["areas/unseen.html"]
        assert index.refresh().unchanged


def test_a_commit_of_which_the_index_missed_the_parent_is_caught_up_with(shelf: Shelf) -> None:
    with shelf.open() as index:
        index.refresh()
        shelf.commit(**{"areas/other.html": memory("By hand.")})
        done, told = shelf.store(Put("areas/new.html", memory("Told.")))
        assert index.took(done, told).added == ["areas/new.html", "areas/other.html"]


def test_a_writer_who_decides_sees_what_is_committed(shelf: Shelf) -> None:
    with shelf.open() as index, shelf.open() as other:
        index.refresh()
        done, told = shelf.store(Put("areas/new.html", memory("Told.")))
        other.took(done, told)
        row = index.file("areas/new.html")
        assert row is not None
        assert index.holder_of_fact(row.fact_hash) == "areas/new.html"
        head = shelf.commit(**{"areas/n2.html": memory("By hand.")})
        assert index.bring_to(head).added == ["areas/n2.html"]
        assert index.bring_to(head).unchanged


def test_two_hundred_broken_files_jam_nothing(shelf: Shelf) -> None:
    for number in range(200):
        shelf.put(f"areas/broken/{number}.html", b"<p>" + bytes([number]) * 40)
    with shelf.open() as index:
        report = index.refresh()
        assert report.problems == 200
        assert paths(index) == [A, B, C]
        shelf.commit(**{"areas/new.html": memory("Still going.", head=link("supports", A))})
        assert index.refresh().added == ["areas/new.html"]


def test_a_file_whose_rows_cannot_be_written_is_a_problem_of_its_own(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    from fabula.memory.index import rows

    whole = rows.insert

    def fails(*given: object) -> None:
        whole(*given)  # type: ignore[arg-type]
        if given[2] == B:
            raise ValueError("of this file alone")

    monkeypatch.setattr(rows, "insert", fails)
    with shelf.open() as index:
        index.refresh()
        assert paths(index) == [A, C]
        assert [(one.path, one.kind) for one in index.problems()] == [(B, "failed")]
        assert found(index, "replica") == []
