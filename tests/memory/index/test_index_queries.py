"""What may be asked of the index: holders, lists, tasks, neighbours, what is wrong."""

from __future__ import annotations

import ast
import inspect

import pytest
from indexed import Shelf, found, link, memory

from fabula.memory.index import known, listing, memory_index, overview, relations
from fabula.memory.index.memory_index import MemoryIndex
from fabula.memory.index.values import Filters
from fabula.memory.links.edges import AuthoredEdge, DerivedEdge
from fabula.memory.links.evidence import graph_standing

NAMES = ("a", "b", "c", "d")
A, B, C, D = (f"areas/{name}.html" for name in NAMES)


def index_of(shelf: Shelf, **files: bytes) -> MemoryIndex:
    shelf.commit(**files)
    index = shelf.open()
    index.refresh()
    return index


def test_the_earliest_holder_of_a_fact_is_the_one_that_counts(empty: Shelf) -> None:
    late, early = memory("One fact."), memory("One fact.", created="2026-01-01T00:00:00Z")
    task = memory("One fact.", kind="task", task_status="todo", created="2025-01-01T00:00:00Z")
    with index_of(empty, **{A: late, B: early, C: task, "archive/2026/areas/o.html": early}) as index:
        row = index.file(A)
        assert row is not None
        assert index.holder_of_fact(row.fact_hash) == B
        assert index.holders_of_content(row.content_hash) == [B, A]
        assert index.holder_of_fact("sha256:none") is None
        assert (index.is_known(A), index.is_known(D), index.type_of(C)) == (True, False, "task")


def test_holders_of_slots_are_active_memories(empty: Shelf) -> None:
    files = {A: memory("The owner of ledger is Ana."), B: memory("The owner of ledger is Ben.")}
    files |= {C: memory("The owner of ledger is Cleo.", kind="task", task_status="todo")}
    with index_of(empty, **files) as index:
        key = "the owner of ledger is"
        held = index.frame_holders([key, key, "unheld"])
        assert held == {key: [(A, "The owner of ledger is Ana."), (B, "The owner of ledger is Ben.")]}
        assert index.frame_holders([]) == {}
        assert index.frame_holders([f"key {number}" for number in range(1200)] + [key]) == held


def test_a_list_goes_on_behind_its_last_path(empty: Shelf) -> None:
    files = {f"areas/{number:02}.html": memory(f"Number {number}.") for number in range(7)}
    with index_of(empty, **files) as index:
        seen: list[str] = []
        after = None
        while page := index.listing(Filters(), after, 3):
            seen += [row.path for row in page]
            after = seen[-1]
        assert seen == sorted(files)
        assert index.count(Filters()) == 7


def test_a_list_is_narrowed_by_what_memories_are(empty: Shelf) -> None:
    names = '<meta name="memhtml-tag" content="Backup"><meta name="memhtml-entity" content="service:Ledger">'
    files = {
        A: memory("Tagged.", '<dl><dt>Limit</dt><dd><data value="4">four</data></dd></dl>', head=names),
        B: memory("A task.", kind="task", task_status="doing"),
        "projects/w/c.html": memory("In a workspace.", kind="episodic", session="s-1"),
        "archive/2026/projects/w/d.html": memory("Archived."),
    }
    with index_of(empty, **files) as index:

        def listed(filters: Filters) -> list[str]:
            return [row.path for row in index.listing(filters)]

        assert listed(Filters()) == [A, "projects/w/c.html"]
        assert listed(Filters(archived=True)) == ["archive/2026/projects/w/d.html", A, "projects/w/c.html"]
        assert listed(Filters(bucket="archive")) == ["archive/2026/projects/w/d.html"]
        assert listed(Filters(types=("task", "episodic"))) == [B, "projects/w/c.html"]
        assert listed(Filters(task_status="doing")) == [B]
        assert listed(Filters(workspace="w")) == ["projects/w/c.html"]
        assert listed(Filters(session="s-1")) == ["projects/w/c.html"]
        assert listed(Filters(tag="backup")) == [A]
        assert listed(Filters(entity="service:LEDGER")) == [A]
        assert listed(Filters(facet="limit")) == [A]
        assert listed(Filters(facet="Limit=four")) == [A]
        assert listed(Filters(facet="lim")) == []
        row = index.file("/" + A)
        assert row is not None
        assert (row.tags, row.entities, row.facets) == (("Backup",), ("service:Ledger",), (("Limit", "four", 4.0),))


def test_archived_memories_have_a_full_text_of_their_own(empty: Shelf) -> None:
    with index_of(empty, **{A: memory("Pause now."), "archive/2026/areas/b.html": memory("Pause then.")}) as index:
        assert found(index, "pausing") == [A]
        assert found(index, "pausing", "archived_text") == ["archive/2026/areas/b.html"]


def test_a_task_knows_what_blocks_it(empty: Shelf) -> None:
    task = {"kind": "task"}
    files = {
        A: memory("First.", task_status="doing", head=link("blocks", C), **task),
        B: memory("Second.", task_status="done", head=link("blocks", C), **task),
        C: memory("Third.", task_status="todo", head=link("subtask_of", D), **task),
        D: memory("Whole.", task_status="todo", **task),
    }
    with index_of(empty, **files) as index:
        tasks = {one.row.path: one for one in index.tasks()}
        assert tasks[C].blocked_by == (A,)
        assert tasks[A].blocks == (C,)
        assert tasks[C].parent == D
        assert tasks[D].children == (C,)
        assert [one.row.path for one in index.tasks(status=["done"])] == [B]
        assert index.status().by_task_status == {"doing": 1, "done": 1, "todo": 2}


def test_siblings_by_a_common_parent_are_neighbours_and_edges_are_edges(empty: Shelf) -> None:
    files = {
        A: memory("One.", head=link("part_of", C)),
        B: memory("Two.", head=link("part_of", C)),
        C: memory("The whole.", head=link("relates_to", "areas/nowhere.html")),
        D: memory("Alone."),
    }
    with index_of(empty, **files) as index:
        near = index.neighbourhood(A)
        assert [(one.path, one.hops) for one in near.reached] == [(C, 1), (B, 2)]
        assert [(edge.source, edge.target) for edge in near.edges] == [(A, C), (B, C)]
        assert [one.path for one in index.neighbourhood(A, 1).reached] == [C]
        assert index.neighbourhood(A, relations=["supports", "no relation"]).reached == []
        index.guess([DerivedEdge(A, "relates_to", D, 0.9)])
        assert [one.path for one in index.neighbourhood(A, 1).reached] == [C, D]


def test_a_guess_holds_for_facts_it_follows_a_move_and_ends_with_an_edit(empty: Shelf) -> None:
    with index_of(empty, **{A: memory("One."), B: memory("Two.")}) as index:
        assert index.guess([DerivedEdge(A, "relates_to", B, 0.9), DerivedEdge(A, "relates_to", "areas/none.html", 0.9)])
        assert index.guessed_edges() == [DerivedEdge(A, "relates_to", B, 0.9)]
        empty.git("mv", A, C)
        index.refresh()
        assert index.guessed_edges([B]) == [DerivedEdge(C, "relates_to", B, 0.9)]
        index.rebuild()
        assert index.guessed_edges() == [DerivedEdge(C, "relates_to", B, 0.9)]
        empty.put(C, memory("Another one."))
        index.refresh()
        assert index.guessed_edges() == []
        assert index.drop_guesses()


def test_the_newest_successor_is_the_one_that_is_named(empty: Shelf) -> None:
    files = {
        A: memory("Old."),
        B: memory("Newer.", head=link("supersedes", A), created="2026-06-01T00:00:00Z"),
        C: memory("Newest.", head=link("supersedes", A), created="2026-07-01T00:00:00Z"),
    }
    with index_of(empty, **files) as index:
        index.guess([DerivedEdge(A, "supersedes", B, 1.0)])
        assert index.successors_of([A, B, C]) == {A: C}
        assert index.authored_edges(["supersedes"], [A]) == [
            AuthoredEdge(B, "supersedes", A, 1_780_272_000_000),
            AuthoredEdge(C, "supersedes", A, 1_782_864_000_000),
        ]


def test_links_that_lead_nowhere_are_named_and_those_into_the_archive_are_not(empty: Shelf) -> None:
    files = {
        A: memory(
            "Links.", head=link("supports", B) + link("supports", "areas/gone.html") + link("from_session", "x/y")
        ),
        "archive/2026/" + B: memory("Archived from there."),
        C: b"<p>broken</p>",
        D: memory("Links to a broken file.", head=link("supports", C)),
        "areas/e.html": memory("Alone."),
    }
    with index_of(empty, **files) as index:
        assert [(edge.source, edge.target) for edge in index.dangling()] == [(A, "areas/gone.html")]
        assert index.resolve(B) == "archive/2026/" + B
        assert index.resolve(A) == A
        assert index.resolve("areas/never.html") is None
        assert index.orphans() == ["areas/e.html"]


def test_citations_are_found_from_both_ends(empty: Shelf) -> None:
    digest = "sha256:" + "ab" * 32
    cite = f'<meta name="fabula-cite" content="rec-1 {digest}">'
    with index_of(
        empty, **{A: memory("Cited.", '<p><q cite="urn:fabula:record:rec-1">so</q></p>', head=cite)}
    ) as index:
        (cited,) = index.citations_of(A)
        assert (cited.record, cited.digest, cited.text) == ("rec-1", digest, "so")
        assert index.citing("rec-1") == [cited]


def test_the_status_counts_what_there_is(empty: Shelf) -> None:
    files = {A: memory("One."), "projects/w/b.html": memory("Two."), "archive/2026/areas/c.html": memory("Three.")}
    with index_of(empty, **files) as index:
        index.keep_vectors([("model@2", b"x" * 32, b"12")])
        status = index.status()
        assert (status.files, status.archived, status.by_workspace) == (3, 1, {"w": 1})
        assert status.by_bucket == {"archive": 1, "areas": 1, "projects": 1}
        assert status.vectors == {"model@2": 1}
        assert status.head == empty.git("rev-parse", "HEAD")
        assert status.place == "corpus"


@pytest.mark.parametrize("module", [known, listing, memory_index, overview, relations])
def test_nothing_but_readers_of_edges_reads_a_guess(module: object) -> None:
    readers = {"guessed_edges", "guess", "drop_guesses", "status", "neighbourhood"}
    source = inspect.getsource(module)  # type: ignore[arg-type]
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef):
            code = [one for one in node.body if not (isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant))]
            assert node.name in readers or "guess" not in "".join(map(ast.unparse, code)).lower(), node.name
    assert "guesses" not in relations._AUTHORED


def test_no_guess_changes_what_is_said_of_a_memory(empty: Shelf) -> None:
    files = {A: memory("One."), B: memory("Two.", head=link("supports", A)), C: memory("Three.")}
    with index_of(empty, **files) as index:

        def judged() -> tuple[object, ...]:
            standing = graph_standing(files, index.authored_edges())
            lists = (index.dangling(), index.orphans(), index.duplicates(), index.successors_of(files))
            return (standing, *lists, index.authored_edges(), [index.file(path) for path in files])

        before = judged()
        for relation in ("contradicts", "supersedes", "supports"):
            assert index.guess([DerivedEdge(A, relation, C, 1.0), DerivedEdge(C, relation, B, 1.0)])
        assert judged() == before
        assert len(index.guessed_edges()) == 6
