"""Who succeeded whom; a superseded memory never stands before its successor."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from fabula.memory.links.edges import AuthoredEdge
from fabula.memory.links.succession import Succession, circles

names = st.sampled_from("abcdefgh")
edges = st.lists(st.builds(AuthoredEdge, names, st.just("supersedes"), names, st.integers(0, 3)), max_size=14)
rankings = st.lists(names, unique=True)


def over(*pairs: str) -> list[AuthoredEdge]:
    """``ba``: b supersedes a; later ones were written later."""
    return [AuthoredEdge(pair[0], "supersedes", pair[1], at) for at, pair in enumerate(pairs)]


def test_a_chain_leads_to_the_memory_that_holds_now() -> None:
    succession = Succession(over("ba", "cb"))
    assert succession.chain("a") == ["a", "b", "c"]
    assert (succession.successor("a"), succession.current("a"), succession.current("c")) == ("b", "c", "c")
    assert succession.outranking("a") == {"b", "c"}


def test_of_several_successors_the_one_written_last_counts_and_ties_go_by_path() -> None:
    assert Succession(over("ca", "ba")).successor("a") == "b"
    assert Succession([AuthoredEdge(name, "supersedes", "a", 7) for name in "cb"]).successors("a") == ["b", "c"]


def test_other_relations_and_a_memory_that_supersedes_itself_say_nothing() -> None:
    succession = Succession([AuthoredEdge("b", "contradicts", "a"), AuthoredEdge("a", "supersedes", "a")])
    assert succession.current("a") == "a"


def test_a_circle_is_named_and_orders_nobody() -> None:
    succession = Succession(over("ab", "ba", "ca"))
    assert succession.cycles() == [["a", "b"]]
    assert succession.current("b") in {"c", None}
    assert Succession(over("ab", "ba")).current("a") is None
    assert Succession(over("ab", "ba")).in_order("ab") == ["a", "b"]
    assert succession.in_order(["b", "x", "c", "a"]) == ["c", "b", "x", "a"]  # c supersedes a, and so whom a supersedes


def test_a_successor_is_drawn_up_and_nothing_else_moves() -> None:
    assert Succession(over("ba")).in_order(["x", "a", "y", "b", "z"]) == ["x", "b", "a", "y", "z"]
    assert Succession(over("ba")).in_order(["b", "a"]) == ["b", "a"]


def test_a_successor_counts_also_over_one_that_was_not_found() -> None:
    assert Succession(over("ba", "cb")).in_order(["a", "c"]) == ["c", "a"]


@given(edges, rankings)
def test_nothing_superseded_stands_before_its_successor(found: list[AuthoredEdge], ranking: list[str]) -> None:
    succession = Succession(found)
    ordered = succession.in_order(ranking)
    assert sorted(ordered) == sorted(ranking)
    assert succession.violations(ordered) == []
    assert succession.in_order(ordered) == ordered
    if not succession.violations(ranking):
        assert ordered == ranking


@given(edges, rankings)
def test_those_that_no_succession_concerns_keep_their_order(found: list[AuthoredEdge], ranking: list[str]) -> None:
    concerned = {end for edge in found for end in (edge.source, edge.target)}
    rest = [path for path in ranking if path not in concerned]
    assert [path for path in Succession(found).in_order(ranking) if path not in concerned] == rest


@given(edges, names)
def test_every_chain_ends_and_names_nothing_twice(found: list[AuthoredEdge], start: str) -> None:
    succession = Succession(found)
    chain = succession.chain(start)
    assert len(set(chain)) == len(chain)
    current = succession.current(start)
    if not succession.cycles():
        assert current == chain[-1]
    if current is not None:
        assert succession.successors(current) == []


@given(st.dictionaries(names, st.lists(names, max_size=4)))
def test_circles_are_those_that_reach_each_other(following: dict[str, list[str]]) -> None:
    def reach(start: str) -> set[str]:
        seen: set[str] = set()
        waiting = [start]
        while waiting:
            fresh = [one for one in following.get(waiting.pop(), []) if one not in seen]
            seen.update(fresh)
            waiting += fresh
        return seen

    found = circles(following)
    for one in "abcdefgh":
        expected = {other for other in reach(one) if one in reach(other)} - {one}
        assert found.get(one, frozenset((one,))) == expected | {one}


def test_a_chain_of_ten_thousand_versions_is_ordered_at_once() -> None:
    paths = [f"v{number:05}" for number in range(10_000)]
    chain = [AuthoredEdge(new, "supersedes", old, 0) for old, new in pairwise(paths)]
    assert Succession(chain).in_order(paths) == paths[::-1]
