"""The history of a memory, the corpus at a moment, and where a path leads, with real git."""

from __future__ import annotations

import sys
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from clones import Corpus, corpus, memory

from fabula.kernel.errors import FabulaError
from fabula.memory.format.paths import archive_path
from fabula.memory.past.corpus import corpus_at
from fabula.memory.past.resolving import resolve
from fabula.memory.past.subjects import SUBJECT_LIMIT, operation_of, session_of, subject_of
from fabula.memory.past.tracks import moves_among
from fabula.memory.past.versions import versions_of

A, B = "areas/inbox/a.html", "areas/inbox/b.html"
OLD = "archive/2026/areas/inbox/a.html"


@pytest.fixture
def here(tmp_path: Path) -> Corpus:
    return corpus(tmp_path / "one", {A: memory("first fact")})


def corrected(here: Corpus) -> None:
    """Archive one fact and put a very similar one in its place, as ``correct`` does."""
    here.move(A, OLD, memory("first fact", status="archived", superseded_by=f"/{B}"))
    here.write(B, memory("first fact, but better"))
    here.commit("memhtml(correct): first fact, but better\n\nMemhtml-Session: s-1")


def test_a_memorys_history_goes_through_its_archive_and_not_into_its_successor(here: Corpus) -> None:
    here.write(A, memory("first fact", tags=["t"]))
    here.commit("memhtml(link): first fact")
    corrected(here)
    with here.repo() as repo:
        old = versions_of(repo, OLD)
        new = versions_of(repo, B)
        gone = versions_of(repo, A)
    assert [(one.op, one.kind, one.path) for one in old] == [("correct", "R", OLD), ("link", "M", A), ("", "A", A)]
    assert (old[0].before, old[0].session, old[0].subject) == (A, "s-1", "first fact, but better")
    assert [(one.op, one.kind) for one in new] == [("correct", "A")]
    assert [one.kind for one in gone] == ["D", "M", "A"]
    assert gone[0].blob == ""
    assert gone[1].blob == here.git("rev-parse", f"HEAD^:{A}")


def test_a_rename_by_hand_is_followed_where_the_fact_is_the_same(here: Corpus) -> None:
    here.move(A, "projects/x/renamed.html", memory("first fact", tags=["moved"]))
    here.commit("tidied up")
    with here.repo() as repo:
        found = versions_of(repo, "projects/x/renamed.html", limit=2)
        led = resolve(repo, A)
        assert versions_of(repo, "areas/never.html") == []
    assert [(one.kind, one.path) for one in found] == [("R", "projects/x/renamed.html"), ("A", A)]
    assert [(one.to_path, one.via) for one in led.steps] == [("projects/x/renamed.html", "move")]
    assert led.stop_reason == "live"


def test_a_history_of_a_commit_that_is_none_is_an_error(here: Corpus) -> None:
    with here.repo() as repo, pytest.raises(FabulaError) as caught:
        versions_of(repo, A, commit="nowhere")
    assert caught.value.code == "ERR_NOT_FOUND"


def test_the_corpus_at_a_day_a_time_and_a_commit(here: Corpus) -> None:
    first = here.git("rev-parse", "HEAD")
    here.day = "2026-02-03T10:00:00Z"
    here.write(B, memory("second fact"))
    second = here.commit("memhtml(write): second fact")
    here.day = "2026-02-05T10:00:00Z"
    here.move(A, OLD, memory("first fact", status="archived"))
    here.commit("memhtml(archive): first fact")
    with here.repo() as repo:
        at = {when: corpus_at(repo, when) for when in ("2026-02-03", "2026-02-03T09:59:59Z", "2026-02-04", second)}
        now = corpus_at(repo, "HEAD")
        with pytest.raises(FabulaError) as early:
            corpus_at(repo, "1999-01-01")
        with pytest.raises(FabulaError) as never:
            corpus_at(repo, "--all")
        with pytest.raises(FabulaError) as absent:
            at["2026-02-03T09:59:59Z"].read(B)
        assert at["2026-02-03"].commit == at["2026-02-04"].commit == at[second].commit == second
        assert at["2026-02-03T09:59:59Z"].commit == first
        assert at[second].paths() == [A, B]
        assert now.paths() == [B]
        assert now.paths(archived=True) == sorted([OLD, B])
        assert now.paths("archive") == [OLD]
        assert at[second].read(f"/{A}").content.claim == "first fact"
        assert [(path, blob) for path, blob, _ in at[second].each([B, "no"])] == [
            (B, here.git("rev-parse", f"{second}:{B}"))
        ]
    assert {early.value.code, never.value.code, absent.value.code} <= {"ERR_NOT_FOUND", "ERR_PATH"}


def test_a_corrected_path_leads_over_the_archive_to_its_successor(here: Corpus) -> None:
    corrected(here)
    with here.repo() as repo:
        found = resolve(repo, f"/{A}")
    assert [(one.from_path, one.to_path, one.via) for one in found.steps] == [
        (A, OLD, "archive_move"),
        (OLD, B, "supersedes"),
    ]
    assert (found.requested, found.path, found.hops, found.stop_reason) == (A, B, 2, "live")
    assert found.title == "first fact, but better"
    assert found.pinned_uri == f"memhtml://at/{here.git('rev-parse', 'HEAD')}/{B}"


def test_what_was_archived_twice_leads_to_its_latest_place(here: Corpus) -> None:
    here.write("archive/2025/areas/inbox/z.html", memory("z", status="archived"))
    here.write("archive/2026/areas/inbox/z.html", memory("z", status="archived"))
    here.write("archive/02026/areas/inbox/z.html", memory("z", status="archived"))
    here.commit("archived")
    with here.repo() as repo:
        found = resolve(repo, "areas/inbox/z.html")
        still = resolve(repo, "archive/2025/areas/inbox/z.html")
    assert (found.path, found.stop_reason, found.hops) == ("archive/02026/areas/inbox/z.html", "archived", 1)
    assert (still.path, still.stop_reason, still.hops) == ("archive/2025/areas/inbox/z.html", "archived", 0)


def test_circles_long_ways_and_unknown_paths_end_with_their_reason(here: Corpus) -> None:
    chain = [f"areas/c/{number}.html" for number in range(5)]
    for path, following in pairwise(chain):
        here.write(path, memory(path, superseded_by=f"/{following}"))
    here.write(chain[-1], memory("end"))
    here.write("areas/r/1.html", memory("r1", superseded_by="/areas/r/2.html"))
    here.write("areas/r/2.html", memory("r2", superseded_by="/areas/r/1.html"))
    here.commit("chains")
    with here.repo() as repo:
        assert resolve(repo, "areas/r/1.html").stop_reason == "cycle"
        assert resolve(repo, "areas/r/1.html").path == "areas/r/1.html"
        assert resolve(repo, chain[0]).path == chain[-1]
        cut = resolve(repo, chain[0], hop_limit=2)
        assert (cut.stop_reason, cut.path, cut.hops) == ("hop_limit", chain[2], 2)
        lost = resolve(repo, "areas/never/was.html")
        assert (lost.stop_reason, lost.hops, lost.pinned_uri, lost.title) == ("unindexed", 0, "", "")
        assert resolve(repo, A, successor={A: B}.get).steps[0].to_path == B


def test_an_empty_repository_has_no_past(tmp_path: Path) -> None:
    nothing = corpus(tmp_path / "empty", {})
    with nothing.repo() as repo:
        assert resolve(repo, A).stop_reason == "unindexed"
        with pytest.raises(FabulaError):
            corpus_at(repo, "2026-01-01")


def test_subjects_are_read_as_they_are_written() -> None:
    long = subject_of("write", "word " * 40)
    assert operation_of(long)[0] == "write"
    assert len(operation_of(long)[1]) <= SUBJECT_LIMIT
    assert long.endswith("…")
    assert operation_of(subject_of("link", "  ")) == ("link", "(untitled)")
    assert operation_of("by hand") == ("", "by hand")
    assert session_of("a\n\nMemhtml-Session: x\nMemhtml-Prompt: y") == "x"
    assert session_of("Memhtml-Session: forged\n\nbody\n\nMemhtml-Prompt: y") == ""


_NAMES = st.sampled_from(["areas/a.html", "areas/b.html", "projects/p/c.html"])


@given(st.sets(_NAMES), st.sampled_from([2025, 2026]))
def test_everything_that_was_archived_is_seen_as_moved(paths: set[str], year: int) -> None:
    went = {path: archive_path(path, year) for path in paths}
    assert moves_among(went, went.values(), lambda _: None, lambda _: None) == went


def test_facts_that_are_there_twice_are_not_taken_for_a_move() -> None:
    same = {"areas/a.html": "f", "areas/b.html": "f"}
    assert moves_among(same, ["areas/c.html"], same.get, lambda _: "f") == {}
    assert moves_among(["areas/a.html"], ["areas/c.html"], same.get, lambda _: "f") == {"areas/a.html": "areas/c.html"}
