"""Relations between memories and the state of tasks: one commit each, and none where nothing changes."""

from __future__ import annotations

import pytest
from storecorpus import Corpus, claim

from fabula.kernel.errors import FabulaError
from fabula.memory.store.archiving import archive
from fabula.memory.store.linking import link, unlink
from fabula.memory.store.tasks import set_status
from fabula.memory.store.values import NewMemory, Occupied, Provenance
from fabula.memory.store.writing import write


def two(corpus: Corpus) -> tuple[str, str]:
    return write(corpus.store, claim("A")).path, write(corpus.store, claim("B")).path


def task(corpus: Corpus, title: str = "Do it", **more: object) -> str:
    return write(corpus.store, NewMemory(title, "task", claim="Do it.", **more)).path  # type: ignore[arg-type]


def test_a_relation_is_one_commit_and_said_again_none(corpus: Corpus) -> None:
    one, other = two(corpus)
    before = corpus.reading(one)
    found = link(corpus.store, one, "caused_by", f"/{other}", Provenance("s-1"))
    assert corpus.changed() == [f"M\t{one}"]
    assert (found.commit, found.unchanged, found.target) == (corpus.head(), False, other)
    assert corpus.message() == f"memhtml(link): {one} caused_by {other}\n\nMemhtml-Session: s-1"
    after = corpus.reading(one)
    assert (after.content_hash, after.article_bytes) == (before.content_hash, before.article_bytes)
    assert after.head == before.head
    again = link(corpus.store, one, "caused_by", other)
    assert (again.commit, again.unchanged) == (None, True)
    assert corpus.head() == found.commit


def test_a_relation_is_taken_away_and_what_is_not_there_stays_away(corpus: Corpus) -> None:
    one, other = two(corpus)
    before = corpus.data(one)
    link(corpus.store, one, "supports", other)
    archive(corpus.store, other, "old")
    found = unlink(corpus.store, one, "supports", other)
    assert corpus.data(one) == before
    assert corpus.message().startswith("memhtml(unlink): ")
    assert found.commit == corpus.head()
    assert unlink(corpus.store, one, "supports", other).unchanged


@pytest.mark.parametrize(
    ("source", "relation", "target", "code"),
    [
        ("a", "caused_by", "a", "ERR_USAGE"), ("none", "caused_by", "a", "ERR_NO_MEMORY"),
        ("a", "caused_by", "none", "ERR_NO_MEMORY"), ("a", "caused_by", "t", "ERR_USAGE"),
        ("t", "caused_by", "a", "ERR_USAGE"), ("t", "blocks", "a", "ERR_USAGE"), ("a", "blocks", "t", "ERR_USAGE"),
        ("t", "subtask_of", "none", "ERR_NO_MEMORY"), ("a", "likes", "a", "ERR_USAGE"),
        ("a", "from_session", "..", "ERR_PATH"),
        ("../x", "caused_by", "a", "ERR_PATH"),
    ],
)  # fmt: skip
def test_classes_of_relations_never_mix(corpus: Corpus, source: str, relation: str, target: str, code: str) -> None:
    paths = {"a": two(corpus)[0], "t": task(corpus), "none": "areas/none.html", "..": "../x", "../x": "../x.html"}
    before = corpus.digest()
    with pytest.raises(FabulaError) as refused:
        link(corpus.store, paths[source], relation, paths[target])
    assert refused.value.code == code
    assert corpus.digest() == before


def test_tasks_block_tasks_and_a_session_need_not_be_there(corpus: Corpus) -> None:
    one, other = task(corpus), task(corpus)
    assert link(corpus.store, one, "blocks", other).commit
    memory = two(corpus)[0]
    assert link(corpus.store, memory, "from_session", "sessions/none.html").commit
    assert link(corpus.store, memory, "about_person", "resources/people/nobody.html").commit


def test_a_head_holds_no_more_than_64_relations(corpus: Corpus) -> None:
    links = tuple(("from_session", f"s/{n}.html") for n in range(64))
    path = write(corpus.store, claim("Full", links=links)).path
    with pytest.raises(FabulaError) as refused:
        link(corpus.store, path, "from_session", "s/64.html")
    assert refused.value.code == "ERR_MEMORY_FORMAT"
    assert link(corpus.store, path, "from_session", "s/63.html").unchanged


# ── tasks ───────────────────────────────────────────────────────────
def test_a_state_is_a_stamp_and_the_moment_and_said_again_nothing(corpus: Corpus) -> None:
    path = task(corpus, due="2026-08-25")
    before = corpus.data(path).decode().splitlines()
    corpus.clock.seconds += 60
    found = set_status(corpus.store, path, "doing")
    after = corpus.data(path).decode().splitlines()
    changed = [new for old, new in zip(before, after, strict=True) if old != new]
    assert [line.split('"')[1] for line in changed] == ["memhtml-updated", "memhtml-task-status"]
    assert corpus.message() == "memhtml(task): doing: Do it"
    assert (found.archived, found.unchanged, found.path) == (False, False, path)
    head = corpus.head()
    again = set_status(corpus.store, path, "doing")
    assert (again.unchanged, again.commit) == (True, None)
    assert corpus.head() == head


def test_what_is_done_goes_to_the_archive_in_the_same_commit_and_comes_back_when_taken_up(corpus: Corpus) -> None:
    path = task(corpus, "Do it", workspace="x")
    count = corpus.commits()
    done = set_status(corpus.store, path, "done")
    assert corpus.commits() == count + 1
    assert (done.path, done.archive_path, done.archived) == (f"archive/2026/{path}", f"archive/2026/{path}", True)
    assert done.moves == ((path, done.path),)
    metas = corpus.metas(done.path)
    assert (metas["memhtml-task-status"], metas["memhtml-status"], metas["fabula-reason"]) == (
        "done", "archived", "task done",
    )  # fmt: skip
    assert set_status(corpus.store, done.path, "done").unchanged
    again = set_status(corpus.store, done.path, "todo", "not quite")
    assert corpus.commits() == count + 2
    assert (again.path, again.archived, again.moves) == (path, False, ((done.path, path),))
    metas = corpus.metas(path)
    assert (metas["memhtml-task-status"], metas["memhtml-status"]) == ("todo", "active")
    assert not {"memhtml-archived", "fabula-origin", "fabula-reason"} & metas.keys()
    assert set_status(corpus.store, path, "done").path == f"archive/2026/{path}"
    assert corpus.is_clean()


def test_a_task_that_says_done_but_lies_in_use_is_archived_when_that_is_said_again(corpus: Corpus) -> None:
    path = write(corpus.store, NewMemory("Do it", "task", claim="Do it.", task_status="done")).path
    assert set_status(corpus.store, path, "done").archived


def test_a_task_comes_back_to_its_own_place_or_not_at_all(corpus: Corpus) -> None:
    path = task(corpus)
    done = set_status(corpus.store, path, "done")
    assert task(corpus) == path
    before = corpus.digest()
    with pytest.raises(Occupied):
        set_status(corpus.store, done.path, "doing")
    assert corpus.digest() == before


@pytest.mark.parametrize(("status", "is_task"), [("later", True), ("done", False)])
def test_what_is_no_state_or_no_task_is_a_wrong_call(corpus: Corpus, status: str, is_task: bool) -> None:
    path = task(corpus) if is_task else two(corpus)[0]
    with pytest.raises(FabulaError) as refused:
        set_status(corpus.store, path, status)
    assert refused.value.code == "ERR_USAGE"


def test_an_end_that_a_person_has_not_committed_is_said_to_be_just_that(corpus: Corpus) -> None:
    one, other = two(corpus)
    loose = "areas/inbox/loose.html"
    (corpus.root / loose).write_bytes(corpus.data(other).replace(b"B", b"Loose"))
    for source, target in ((one, loose), (loose, one)):
        with pytest.raises(FabulaError) as caught:
            link(corpus.store, source, "caused_by", target)
        assert (caught.value.code, caught.value.suggestions) == ("ERR_DIRTY", ("fabula memory commit",))
    with pytest.raises(FabulaError) as caught:
        write(corpus.store, NewMemory("C", "semantic", claim="C.", links=(("caused_by", loose),)))
    assert caught.value.code == "ERR_DIRTY"
