"""Whatever happened to a corpus, and in whichever steps the index saw it: a rebuild says the same."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from indexed import Shelf, contents, link, memory

from fabula.memory.index.memory_index import MemoryIndex
from fabula.memory.links.edges import DerivedEdge
from fabula.storage.git.values import Put

PATHS = (
    "areas/inbox/a.html",
    "areas/inbox/b.html",
    "areas/deep/er/c.html",
    "projects/ledger/d.html",
    "projects/ledger/tasks/t.html",
    "resources/people/ana.html",
    "archive/2026/areas/inbox/a.html",
    "archive/2026/projects/ledger/d.html",
)
#: What a file may be: memories (some with one text or one fact), tasks, links to others, and what is no memory.
BODIES = (
    memory("The owner of ledger is Ana.", head=link("supersedes", PATHS[6])),
    memory("The owner of ledger is Ben.", tags="x", head='<meta name="memhtml-tag" content="owners">'),
    memory("A limit.", '<p><data value="40">forty</data></p>'),
    memory("A limit.", '<p><data value="4">forty</data></p>'),
    memory("Do it.", kind="task", task_status="todo", head=link("blocks", PATHS[3])),
    memory("Relates.", head=link("relates_to", PATHS[0]) + link("part_of", PATHS[3])),
    memory("Older.", valid_from="2025-01-01", valid_until="2026-01-01", title="parseHTTPConfig 東京タワー"),
    b"<p>no memory</p>",
    memory("Both.", "\n<<<<<<< a\n<p>1</p>\n=======\n<p>2</p>\n>>>>>>> b\n"),
)

_path, _body = st.sampled_from(PATHS), st.sampled_from(BODIES)
steps = st.one_of(
    st.tuples(st.just("write"), _path, _body),
    st.tuples(st.just("write"), _path, _body),
    st.tuples(st.just("delete"), _path),
    st.tuples(st.just("rename"), _path, _path),
    st.tuples(st.just("git mv"), _path, _path),
    st.tuples(st.just("commit")),
    st.tuples(st.just("commit one"), _path),
    st.tuples(st.just("revert"), _path),
    st.tuples(st.just("reset"), st.integers(1, 3)),
    st.tuples(st.just("store"), _path, _body),
    st.tuples(st.just("guess"), _path, _path),
    st.tuples(st.just("refresh")),
    st.tuples(st.just("refresh")),
)


def take(shelf: Shelf, index: MemoryIndex, step: tuple[object, ...]) -> None:
    """Let one thing happen."""
    what, *about = step
    path = str(about[0]) if about else ""
    place = shelf.root / path
    if what == "write":
        assert isinstance(about[1], bytes)
        shelf.put(path, about[1])
    elif what == "delete":
        place.unlink(missing_ok=True)
    elif what in {"rename", "git mv"}:
        target = shelf.root / str(about[1])
        if place.exists() and not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            if what == "rename":
                place.rename(target)
            else:
                shelf.git("mv", path, str(about[1]), check=False)
    elif what == "commit":
        shelf.commit()
    elif what == "commit one":
        shelf.git("add", "--", path, check=False)
        shelf.git("commit", "--quiet", "-m", "one", "--", path, check=False)
    elif what == "revert":
        shelf.git("checkout", "--quiet", "HEAD", "--", path, check=False)
    elif what == "reset":
        shelf.git("reset", "--quiet", "--hard", f"HEAD~{about[0]}", check=False)
    elif what == "store":
        assert isinstance(about[1], bytes)
        if (
            not place.exists()
            and not shelf.git("ls-files", "--", path)
            and not shelf.git("ls-tree", "HEAD", "--", path)
        ):
            index.took(*shelf.store(Put(path, about[1])))
    elif what == "guess":
        index.guess([DerivedEdge(path, "relates_to", str(about[1]), 0.9)])
    else:
        index.refresh()


@settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(steps, min_size=3, max_size=16))
@example([("delete", PATHS[0]), ("git mv", PATHS[1], PATHS[0]), ("store", PATHS[1], BODIES[0])])  # HEAD has it still
def test_an_index_that_followed_any_history_equals_a_rebuild(history: list[tuple[object, ...]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        shelf = Shelf(Path(folder))
        shelf.commit(**dict(zip(PATHS[:3], BODIES[:3], strict=True)))
        with shelf.repo, shelf.open() as index:
            index.refresh()
            for step in history:
                take(shelf, index, step)
            index.refresh()
            followed = contents(index)
            index.rebuild()
            assert contents(index) == followed
