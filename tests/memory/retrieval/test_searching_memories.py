"""What a search of the memory finds, in which order, and what it says about itself."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fabula
from fabula.kernel.errors import FabulaError
from fabula.memory.format.head import Link
from fabula.memory.retrieval.ranking import is_weak
from fabula.memory.retrieval.retriever import Retriever
from fabula.memory.retrieval.values import Answer, Ask, Scope
from fabula.memory.standing.reinforcement import State
from fabula.models.embedding import Embedder, Unavailable, direction
from fabula.models.static_embedder import StaticEmbedder
from fabula.testing.memory_shelf import DAY, NOW, Shelf

TABLE = Path(fabula.__file__).parent / "data" / "embedding"
NO_VECTORS = Unavailable("vectors are switched off")


@pytest.fixture(scope="session")
def table() -> StaticEmbedder:
    return StaticEmbedder(TABLE)


@pytest.fixture
def shelf() -> Shelf:
    return Shelf()


def asked(shelf: Shelf, text: str, embedder: Embedder | Unavailable = NO_VECTORS, **scope: object) -> Answer:
    return Retriever(shelf, embedder).search(Ask(text, NOW, Scope(**scope)))  # type: ignore[arg-type]


def paths(answer: Answer) -> list[str]:
    return [hit.path for hit in answer.hits]


def filled(shelf: Shelf) -> Shelf:
    shelf.add("areas/a.html", "Drain the connection pool before a deploy.", tags=["Deploy"], entities=["service:API"])
    shelf.add("areas/b.html", "The nightly export keeps a transaction open.", entities=["service:api", "tool:pg"])
    shelf.add("projects/heron/c.html", "Heron's queue retries five times, then drops.", at="2026-05-20T00:00:00Z")
    shelf.add("projects/otter/d.html", "Otter's queue retries three times, then waits.")
    shelf.add("areas/inbox/tasks/e.html", "Move the queue to the new broker.", type="task")
    shelf.add("archive/2026/areas/f.html", "Drain the pool by hand after each deploy.")
    return shelf


# ── words ───────────────────────────────────────────────────────────
def test_a_long_question_finds_what_holds_most_of_its_words_not_all(shelf: Shelf) -> None:
    filled(shelf)
    question = "why must somebody be draining those connection pools before we start to deploy the kubernetes thing?"
    assert paths(asked(shelf, question))[0] == "areas/a.html"


def test_nothing_relevant_is_an_empty_answer(shelf: Shelf, table: StaticEmbedder) -> None:
    filled(shelf)
    for embedder in (NO_VECTORS, table):
        answer = asked(shelf, "zygomorphic quaternion bassoon", embedder)
        assert (answer.hits, answer.weak, answer.scope_empty) == ((), True, False)


@pytest.mark.parametrize(
    "text",
    [
     "don't drain", "pool:connection drain", "-drain", '"', '"drain', "drain*", "drain OR NOT pool", "(drain",
     "drain^2", "NEAR(drain pool)", "{drain}: pool", "drain\x00pool", "DRAIN", "drain " * 2_000,
     "dräin", "\ud800 drain",
    ],
)  # fmt: skip
def test_no_text_is_a_syntax_error(shelf: Shelf, text: str) -> None:
    assert isinstance(asked(filled(shelf), text), Answer)


@given(st.text(max_size=60))
@settings(deadline=None, max_examples=60)
def test_whatever_is_typed_is_answered(text: str) -> None:
    shelf = Shelf()
    shelf.add("areas/a.html", "Drain the pool.")
    assert asked(shelf, text).number in {0, 1}


def test_a_lone_excluded_word_is_looked_for_and_beside_others_it_excludes(shelf: Shelf, table: StaticEmbedder) -> None:
    filled(shelf)
    assert paths(asked(shelf, "-drain")) == ["areas/a.html"]
    for embedder in (NO_VECTORS, table):
        assert paths(asked(shelf, "queue retries -heron", embedder)) == ["projects/otter/d.html"]


@pytest.mark.parametrize("text", ["nrfjprog --recover", "tar -x", "rm -rf build", "bt_enable -12", "--recover"])
def test_flags_and_numbers_that_are_pasted_are_words_not_exclusions(shelf: Shelf, text: str) -> None:
    shelf.add("areas/a.html", f"Somebody ran {text} and it helped.")
    shelf.add("areas/b.html", "Something else.")
    (hit,) = asked(shelf, text).hits
    assert hit.coverage == pytest.approx(1.0)


def test_a_phrase_must_stand_there_and_one_that_stands_nowhere_is_taken_by_its_words(shelf: Shelf) -> None:
    shelf.add("areas/a.html", "The pool of connections is drained.")
    shelf.add("areas/b.html", "The connections pool at the door.")
    assert paths(asked(shelf, '"connections pool"')) == ["areas/b.html"]
    assert set(paths(asked(shelf, '"drained connections"'))) == {"areas/a.html", "areas/b.html"}


@pytest.mark.parametrize(
    ("claim", "question"),
    [
        ("parseConfigFile refuses tabs.", "parse config"), ("parseConfigFile refuses tabs.", "parseConfigFile"),
        ("Set MAX_POOL_SIZE to 40.", "max_pool_size"), ("See src/store/lease.py for the lease.", "lease.py"),
        ("ERR_LEASE_4012 means a stale token.", "err_lease_4012"), ("Die Migration läuft nachts.", "migration lauft"),
        ("東京の鍵は金庫にあります。", "金庫"), ("Ключ лежит в сейфе.", "сейфе"), ("회의는 화요일이다.", "화요일"),
    ],
)  # fmt: skip
def test_names_and_several_languages_are_found(shelf: Shelf, claim: str, question: str) -> None:
    shelf.add("areas/other.html", "Something about boats and their sails.")
    shelf.add("areas/a.html", claim)
    assert paths(asked(shelf, question))[0] == "areas/a.html"


def test_titles_tags_entities_facets_and_abbreviations_are_found(shelf: Shelf) -> None:
    article = "<p><mark>It holds.</mark> <abbr title='write ahead log'>WAL</abbr></p>"
    article += "<dl><dt>region</dt><dd>Frankfurt</dd></dl>"
    shelf.add("areas/a.html", "", article_html=article, title="Umbrella", tags=["zeppelin"], entities=["person:Ana"])
    shelf.add("areas/b.html", "Something else entirely.")
    for question in ("umbrella", "zeppelin", "ana", "frankfurt", "write ahead log"):
        assert paths(asked(shelf, question)) == ["areas/a.html"]


# ── the scope ───────────────────────────────────────────────────────
def test_archived_memories_and_tasks_are_hidden_until_they_are_asked_for(shelf: Shelf) -> None:
    filled(shelf)
    assert paths(asked(shelf, "drain pool deploy")) == ["areas/a.html"]
    assert set(paths(asked(shelf, "drain pool deploy", archived=True))) == {"areas/a.html", "archive/2026/areas/f.html"}
    assert "areas/inbox/tasks/e.html" not in paths(asked(shelf, "queue broker", archived=True))
    assert paths(asked(shelf, "queue broker", types=("task",))) == ["areas/inbox/tasks/e.html"]


def test_scopes_narrow_by_workspace_home_tag_entity_and_facet_without_case(shelf: Shelf) -> None:
    filled(shelf)
    article = "<p><mark>Queue limits.</mark></p><dl><dt>Port</dt><dd>5432</dd></dl>"
    shelf.add("areas/g.html", "", article_html=article, title="G")
    assert paths(asked(shelf, "queue retries", workspace="heron")) == ["projects/heron/c.html"]
    assert paths(asked(shelf, "queue retries times", home="otter"))[0] == "projects/otter/d.html"
    assert "projects/heron/c.html" not in paths(asked(shelf, "queue retries", home="otter"))
    assert paths(asked(shelf, "drain", tags=("deploy", "nothing"))) == ["areas/a.html"]
    assert set(paths(asked(shelf, "transaction pool", entities=("Service:api",)))) == {"areas/a.html", "areas/b.html"}
    for facet in ("port=5432", "PORT", "port"):
        assert paths(asked(shelf, "queue", facets=(facet,))) == ["areas/g.html"]
    assert paths(asked(shelf, "queue", facets=("port=1",))) == []


def test_blank_and_unknown_names_are_ignored_and_an_empty_scope_is_said(shelf: Shelf) -> None:
    filled(shelf)
    assert paths(asked(shelf, "drain", types=("dream",), tags=(" ",), entities=("",), workspace=" ")) == [
        "areas/a.html"
    ]
    nobody = asked(shelf, "drain", entities=("service:nobody",))
    assert (nobody.hits, nobody.scope_empty) == ((), True)
    assert not asked(Shelf(), "drain").scope_empty


def test_a_date_in_the_past_answers_with_what_held_then(shelf: Shelf) -> None:
    def version(path: str, limit: int, since: str, until: str | None, old: str | None = None) -> None:
        links = (Link("memhtml-supersedes", f"/{old}"),) if old else ()
        shelf.add(path, f"The connection limit is {limit}.", valid_from=since, valid_until=until, links=links)

    version("archive/2025/areas/one.html", 10, "2024-01-01", "2025-01-01")
    version("archive/2026/areas/two.html", 20, "2025-01-01", "2026-01-01", "archive/2025/areas/one.html")
    version("areas/three.html", 30, "2026-01-01", None, "archive/2026/areas/two.html")
    for years, path, over in (
        (2, "archive/2025/areas/one.html", "archive/2026/areas/two.html"),
        (1, "archive/2026/areas/two.html", "areas/three.html"),
        (0, "areas/three.html", None),
    ):
        (hit,) = asked(shelf, "connection limit", as_of=NOW - 365 * years * DAY).hits
        assert (hit.path, hit.superseded_by) == (path, over)
    assert paths(asked(shelf, "connection limit")) == ["areas/three.html"]


# ── order ───────────────────────────────────────────────────────────
def test_a_superseded_fact_never_stands_before_its_successor_even_one_that_was_not_found(shelf: Shelf) -> None:
    shelf.add("areas/old.html", "The ledger listens on port 7001.", at="2026-01-01T00:00:00Z")
    link = (Link("memhtml-supersedes", "/areas/old.html"),)
    shelf.add("areas/new.html", "Everything moved behind the gateway.", links=link)
    answer = asked(shelf, "ledger listens on port")
    assert paths(answer) == ["areas/new.html", "areas/old.html"]
    assert [hit.superseded_by for hit in answer.hits] == [None, "areas/new.html"]
    assert paths(Retriever(shelf, NO_VECTORS).search(Ask("ledger port", NOW, limit=1))) == ["areas/new.html"]


@given(st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=10))
@settings(deadline=None, max_examples=25)
def test_whatever_supersedes_what_no_successor_stands_behind(pairs: list[tuple[int, int]]) -> None:
    shelf = Shelf()
    for number in range(8):
        links = [Link("memhtml-supersedes", f"/areas/{old}.html") for new, old in pairs if new == number > old]
        shelf.add(f"areas/{number}.html", f"Pool {'limit ' * (number % 3)} of host {number}.", links=tuple(links))
    found = paths(asked(shelf, "pool limit host"))
    for new, old in pairs:
        names = (f"areas/{new}.html", f"areas/{old}.html")
        if new > old and set(names) <= set(found):
            assert found.index(names[0]) < found.index(names[1])


def test_recency_and_use_weigh_what_words_found_and_find_nothing_themselves(shelf: Shelf) -> None:
    shelf.add("areas/a.html", "The pool holds forty.", at="2024-01-01T00:00:00Z")
    shelf.add("areas/b.html", "The pool holds fifty.", at="2026-05-30T00:00:00Z")
    shelf.add("areas/new.html", "Something else.", at="2026-05-31T00:00:00Z")
    assert paths(asked(shelf, "pool holds")) == ["areas/b.html", "areas/a.html"]
    used = {"areas/a.html": State(accesses=50, outcome=1.0, last_access=NOW - 1)}
    answer = Retriever(shelf, NO_VECTORS, lambda _: used).search(Ask("forty holds pool", NOW))
    assert answer.arms == ("text", "recency", "salience")
    assert answer.hits[0].arms["salience"].rank == 1
    assert "areas/new.html" not in paths(answer)


def test_valid_time_counts_over_the_time_of_writing(shelf: Shelf) -> None:
    shelf.add("areas/late.html", "The pool holds fifty.", at="2026-05-01T00:00:00Z", valid_from="2020-01-01")
    shelf.add("areas/early.html", "The pool holds forty.", at="2025-01-01T00:00:00Z")
    assert paths(asked(shelf, "pool holds")) == ["areas/early.html", "areas/late.html"]


def test_a_fact_that_stands_in_two_files_is_shown_once(shelf: Shelf) -> None:
    shelf.add("areas/a.html", "The pool holds forty.")
    shelf.add("areas/copy.html", "The pool holds forty.")
    assert len(asked(shelf, "pool holds").hits) == 1


def test_the_same_question_gives_the_same_answer_whatever_the_order_of_writing(table: StaticEmbedder) -> None:
    claims = [f"The pool {number} holds {number * 7} units near the gate." for number in range(12)]
    answers = []
    for order in (claims, claims[::-1]):
        shelf = Shelf()
        for claim in order:
            shelf.add(f"areas/{claims.index(claim):02}.html", claim)
        answers.append(paths(asked(shelf, "pool units gate", table)))
    assert answers[0] == answers[1]


def test_a_blank_question_lists_the_newest_first(shelf: Shelf) -> None:
    filled(shelf)
    for blank in ("", "  !!! ", "%"):
        answer = asked(shelf, blank)
        assert answer.is_listing
        assert paths(answer)[0] == "projects/heron/c.html"
        assert answer.number == 4


def test_a_listing_says_what_superseded_what(shelf: Shelf) -> None:
    shelf.add("areas/old.html", "The port is 1.")
    shelf.add("areas/new.html", "The port is 2.", links=(Link("memhtml-supersedes", "/areas/old.html"),))
    said = {hit.path: hit.superseded_by for hit in asked(shelf, "").hits}
    assert said == {"areas/old.html": "areas/new.html", "areas/new.html": None}


def test_pages_follow_each_other(shelf: Shelf) -> None:
    for number in range(25):
        shelf.add(f"areas/{number:02}.html", f"The pool of host {number} is drained.")
    retriever = Retriever(shelf, NO_VECTORS)
    pages = [retriever.search(Ask("pool drained", NOW, limit=10, offset=offset)) for offset in (0, 10, 20)]
    assert [len(page.hits) for page in pages] == [10, 10, 5]
    assert len({path for page in pages for path in paths(page)}) == 25


# ── what is said of a hit ───────────────────────────────────────────
def test_each_hit_says_what_each_arm_gave(shelf: Shelf, table: StaticEmbedder) -> None:
    answer = asked(filled(shelf), "drain the connection pool", table)
    first = answer.hits[0]
    assert answer.arms == ("text", "vector", "recency")
    assert set(first.arms) == {"text", "vector", "recency"}
    assert first.arms["text"].rank == 1
    whole = sum(part.weight for part in first.arms.values())
    assert first.score == pytest.approx(sum(part.weight * part.scaled for part in first.arms.values()) / whole)
    assert first.coverage == pytest.approx(1.0)


def test_details_are_found_never_shown_and_said_to_be_there(shelf: Shelf) -> None:
    article = (
        "<p><mark>The pool is drained.</mark></p><details><summary>How</summary><p>Use zanzibar now.</p></details>"
    )
    shelf.add("areas/a.html", "", article_html=article, title="Pool")
    (hit,) = asked(shelf, "zanzibar").hits
    assert hit.has_details
    assert "zanzibar" not in hit.snippet.lower()
    (hit,) = asked(shelf, "pool drained").hits
    start, end = hit.marks[0]
    assert hit.snippet[start:end].lower() in {"pool", "drained"}


def test_confidence_decays_when_it_is_read_and_a_reinforcement_confirms_it(shelf: Shelf) -> None:
    shelf.add("areas/a.html", "The pool is drained.", type="episodic", confidence=0.9, at="2026-01-01T00:00:00Z")
    (hit,) = asked(shelf, "pool drained").hits
    assert hit.confidence == 0.9
    assert hit.confidence_now < 0.5
    fresh = {"areas/a.html": State(reinforcements=1, last_reinforced=NOW)}
    (hit,) = Retriever(shelf, NO_VECTORS, lambda _: fresh).search(Ask("pool drained", NOW)).hits
    assert hit.confidence_now == 0.9


# ── vectors ─────────────────────────────────────────────────────────
class Words:
    """An embedder of two dimensions: how much a text is about water, and about fire."""

    most_at_once = 100

    def __init__(self, space: str = "words", most_at_once: int = 100) -> None:
        self.space = space
        self.most_at_once = most_at_once
        self.embedded = 0

    def query(self, text: str) -> bytes:
        low = text.lower()
        water = sum(word in low for word in ("water", "rain", "wet"))
        fire = sum(word in low for word in ("fire", "flame", "hot"))
        return direction([float(water), float(fire)])

    def documents(self, texts: Sequence[str]) -> list[bytes]:
        self.embedded += len(texts)
        return [self.query(text) for text in texts]


class Failing(Words):
    """One that does not answer."""

    def query(self, text: str) -> bytes:
        raise FabulaError("ERR_EMBEDDER", "the server is away")


def test_other_words_of_one_meaning_are_found_by_vectors(shelf: Shelf) -> None:
    shelf.add("areas/wet.html", "The rain came early.")
    shelf.add("areas/hot.html", "A flame burnt the shed.")
    answer = asked(shelf, "water", Words())
    assert paths(answer) == ["areas/wet.html"]
    assert answer.hits[0].arms["vector"].raw == pytest.approx(1.0)
    assert not answer.weak


def test_meaning_is_that_of_the_whole_question_without_what_is_excluded(shelf: Shelf) -> None:
    seen: list[str] = []

    class Listening(Words):
        def query(self, text: str) -> bytes:
            seen.append(text)
            return super().query(text)

        def documents(self, texts: Sequence[str]) -> list[bytes]:
            return [b"" for _ in texts]

    shelf.add("areas/wet.html", "The rain came early.")
    for text in ("why is water so wet here", "water now -fire"):
        asked(shelf, text, Listening())
    assert seen == ["why is water so wet here", "water now"]


def test_a_failing_or_absent_model_is_a_named_reason_and_words_still_find(shelf: Shelf) -> None:
    shelf.add("areas/wet.html", "The rain came early.")
    for embedder, reason in ((Failing(), "the server is away"), (NO_VECTORS, "vectors are switched off")):
        answer = asked(shelf, "rain", embedder)
        assert paths(answer) == ["areas/wet.html"]
        assert answer.degraded == (f"vectors: {reason}",)
        assert "vector" not in answer.arms


def test_vectors_have_no_say_until_half_of_the_memories_have_one(shelf: Shelf) -> None:
    for number in range(10):
        shelf.add(f"areas/{number}.html", f"Rain number {number} came.")
    words = Words(most_at_once=3)
    retriever = Retriever(shelf, words)
    said = [retriever.search(Ask("water", NOW)) for _ in range(5)]
    assert [bool(answer.hits) for answer in said] == [False, True, True, True, True]
    assert said[0].degraded == ("vectors: 3 of 10 memories have vectors",)
    assert [bool(answer.degraded) for answer in said] == [True, True, True, False, False]
    assert words.embedded == 10


def test_vectors_are_made_once_and_kept_by_the_text(shelf: Shelf) -> None:
    shelf.add("areas/wet.html", "The rain came early.")
    asked(shelf, "water", Words())
    again = Words()
    shelf.add("areas/moved/wet.html", "The rain came early.")
    assert len(asked(shelf, "water", again).hits) == 1
    assert again.embedded == 0


def test_vectors_of_two_models_are_never_mixed(shelf: Shelf) -> None:
    shelf.add("areas/wet.html", "The rain came early.")
    assert Retriever(shelf, Words("one")).prepare() == 1
    other = Words("two")
    assert Retriever(shelf, other).prepare() == 1
    assert other.embedded == 1
    assert {space for space, _, _ in shelf.kept} == {"one/cut1", "two/cut1"}


def test_a_change_of_the_memory_is_seen_by_a_retriever_that_goes_on(shelf: Shelf) -> None:
    shelf.add("areas/a.html", "The rain came early.")
    retriever = Retriever(shelf, Words())
    assert len(retriever.search(Ask("water", NOW)).hits) == 1
    shelf.add("areas/b.html", "Wet shoes all day.")
    assert len(retriever.search(Ask("water", NOW)).hits) == 2


def test_what_says_the_same_but_for_a_not_does_not_stand_beside_as_if_it_agreed(shelf: Shelf) -> None:
    shelf.add("areas/yes.html", "The rain pool is safe to drain.", at="2026-05-02T00:00:00Z")
    shelf.add("areas/no.html", "The rain pool is not safe to drain.")
    for number in range(3):
        shelf.add(f"areas/other{number}.html", f"A flame near pool {number}: drain it.")
    found = asked(shelf, "rain pool safe drain", Words())
    scores = [hit.path for hit in found.hits]
    assert scores[0] in {"areas/yes.html", "areas/no.html"}
    assert scores.index("areas/no.html") - scores.index("areas/yes.html") != 1


def test_a_model_whose_vectors_change_their_length_under_one_name_compares_nothing(shelf: Shelf) -> None:
    shelf.add("areas/a.html", "The rain came early.")
    Retriever(shelf, Words()).prepare()

    class Longer(Words):
        def query(self, text: str) -> bytes:
            return direction([1.0] * 9)

    assert asked(shelf, "water", Longer()).hits == ()


# ── many questions in one process ───────────────────────────────────
def test_numpy_changes_no_answer_and_neither_does_its_absence(
    table: StaticEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("numpy")
    shelf = Shelf()
    for number in range(300):
        shelf.add(
            f"areas/{number:03}.html", f"Host {number} drains pool {number % 7} when the {number % 11} flag is set."
        )
    question = "which machine empties its connections under a flag"
    fast = Retriever(shelf, table)
    slow = [fast.search(Ask(question, NOW)) for _ in range(2)][-1]
    with_numpy = [fast.search(Ask(question, NOW)) for _ in range(12)][-1]
    assert with_numpy == slow
    shelf.add("areas/new.html", "The machine empties its connections.")
    assert paths(fast.search(Ask(question, NOW)))[0] == "areas/new.html"
    monkeypatch.setitem(sys.modules, "numpy", None)
    without = Retriever(shelf, table)
    assert [without.search(Ask(question, NOW)) for _ in range(12)][-1] == fast.search(Ask(question, NOW))


def test_vectors_follow_memories_that_change_and_go(shelf: Shelf) -> None:
    for number in range(4):
        shelf.add(f"areas/{number}.html", f"Rain number {number}.")
    retriever = Retriever(shelf, Words())
    assert len(retriever.search(Ask("water", NOW)).hits) == 4
    shelf.take("areas/1.html")
    shelf.take("areas/2.html")
    shelf.add("areas/2.html", "A flame burnt it.")
    assert set(paths(retriever.search(Ask("water", NOW)))) == {"areas/0.html", "areas/3.html"}
    assert paths(retriever.search(Ask("hot fire", NOW))) == ["areas/2.html"]


@pytest.mark.parametrize(
    ("coverage", "cosine", "weak"),
    [
        (1.0, 0.2, False),
        (0.6, 0.5, True),
        (0.6, 0.6, False),
        (0.0, 0.85, False),
        (0.65, None, False),
        (0.5, None, True),
    ],
)
def test_an_answer_is_sure_by_its_words_and_its_meaning_together(
    coverage: float, cosine: float | None, *, weak: bool
) -> None:
    assert is_weak(coverage, cosine) is weak
