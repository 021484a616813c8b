"""The disclosure fold: budgets, voices, lines, arcs apart."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from fabula.kernel.values import replace
from fabula.memory.retrieval.recalling import bearing, disclosed, fold, heading_cost
from fabula.memory.retrieval.retriever import Retriever
from fabula.memory.retrieval.values import ArmPart, Ask, Hit
from fabula.models.embedding import Unavailable
from fabula.testing.memory_shelf import NOW, Shelf


def hit(number: int, entities: tuple[str, ...] = (), kind: str = "semantic") -> Hit:
    return Hit(
        id=number, path=f"areas/{number}.html", title="T", claim="claim", type=kind, score=1.0, coverage=1.0,
        confidence=1.0, confidence_now=1.0, updated=0, when=0, valid_until=None, workspace=None, tags=(),
        entities=entities, superseded_by=None, archived=False, has_details=False, snippet="",
    )  # fmt: skip


def test_order_is_kept_and_a_long_one_does_not_stop_a_shorter_one() -> None:
    hits = [hit(1), hit(2), hit(3)]
    found = fold(hits, {1: "x" * 10, 2: "y" * 500, 3: "z" * 10}, 100)
    assert [one.hit.id for one in found.quoted] == [1, 3]
    assert [one.id for one in found.lines] == [2]
    assert found.truncated


def test_an_entity_is_quoted_twice_at_most_whatever_its_case_and_others_go_on() -> None:
    hits = [hit(1, ("person:Ana", "person:ana")), hit(2, ("person:ana", "tool:x")), hit(3, ("tool:x", "person:ANA")),
            hit(4, ("tool:x",)), hit(5)]  # fmt: skip
    found = fold(hits, {}, 10_000)
    assert [one.hit.id for one in found.quoted] == [1, 2, 4, 5]
    assert [one.id for one in found.lines] == [3]


def test_nothing_fits_into_nothing() -> None:
    found = fold([hit(1)], {1: "x"}, 0)
    assert (found.quoted, found.lines, found.left, found.spent) == ((), (), 1, 0)


def found(number: int, coverage: float, cosine: float) -> Hit:
    return replace(hit(number), coverage=coverage, arms={"vector": ArmPart(number, cosine, cosine, 1.0)})


def test_beside_a_memory_that_answers_one_that_shares_a_common_word_is_not_handed_out() -> None:
    hits = [found(1, 1.0, 0.7), found(2, 0.6, 0.1), found(3, 0.3, 0.6), found(4, 0.3, 0.2), hit(5)]
    assert [one.id for one in bearing(hits)] == [1, 2, 3, 5]
    spread = [found(1, 0.7, 0.2), found(2, 0.3, 0.2), found(3, 0.1, 0.1)]
    assert bearing(spread) == spread, "none answers alone: what is asked may be spread over them"
    assert bearing([]) == []


KINDS = st.sampled_from(["arc", "semantic"])


@given(
    st.lists(st.tuples(st.integers(0, 200), st.sets(st.sampled_from("abc")), KINDS), max_size=12), st.integers(0, 900)
)
@settings(deadline=None)
def test_a_fold_is_a_partition_within_the_budget_that_counts_what_it_hands_out(
    given_: list[tuple[int, set[str], str]], budget: int
) -> None:
    hits = [
        hit(number, tuple(f"tool:{one}" for one in sorted(names)), kind)
        for number, (_, names, kind) in enumerate(given_)
    ]
    texts = {number: "x" * length or "y" for number, (length, _, _) in enumerate(given_)}
    arcs, memories = disclosed(hits, texts, budget)
    assert arcs.spent + memories.spent <= budget
    for part, kinds in ((arcs, {"arc"}), (memories, {"semantic"})):
        mine = [one for one in hits if one.type in kinds]
        assert len(part.quoted) + len(part.lines) + part.left == len(mine)
        assert part.truncated == (len(part.quoted) < len(mine))
        assert part.spent == sum(heading_cost(one.hit) + len(one.text) + 1 for one in part.quoted) + sum(
            map(heading_cost, part.lines)
        )


def test_recall_quotes_claims_summaries_facets_and_citations_and_never_what_is_folded_away() -> None:
    shelf = Shelf()
    article = (
        "<p><mark>The pool is drained.</mark> Prose that waits.</p><dl><dt>limit</dt><dd>40</dd></dl>"
        "<details><summary>Why it is</summary><p>Hidden zanzibar.</p></details><aside>By the way.</aside>"
        "<p><q>said so</q></p>"
    )
    shelf.add("areas/a.html", "", article_html=article, title="Pool")
    shelf.add("areas/arcs/b.html", "Pools are drained again and again.", type="arc")
    found = Retriever(shelf, Unavailable("off")).recall(Ask("pool drained", NOW), 1_000)
    (quoted,) = found.memories.quoted
    assert quoted.text.split("\n") == ["The pool is drained.", "Why it is", "limit: 40", "said so"]
    assert quoted.hit.has_details
    assert [one.hit.type for one in found.arcs.quoted] == ["arc"]
    assert found.spent <= 1_000
    assert found.degraded == ("vectors: off",)


def test_a_small_budget_leaves_lines_and_an_unanswered_question_leaves_nothing() -> None:
    shelf = Shelf()
    for number in range(5):
        shelf.add(
            f"areas/{number}.html", f"The pool {number} is drained by a long and winding road of words.", title="T"
        )
    retriever = Retriever(shelf, Unavailable("off"))
    found = retriever.recall(Ask("pool drained", NOW), 120)
    assert found.spent <= 120
    assert found.memories.lines
    for nothing in ("", "zygomorphic"):
        empty = retriever.recall(Ask(nothing, NOW), 1_000)
        assert (empty.memories.quoted, empty.memories.lines, empty.spent) == ((), (), 0)
