"""What is near a memory by following its edges."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from fabula.memory.format.vocabulary import RELATIONS
from fabula.memory.links.edges import AuthoredEdge, DerivedEdge, Edge
from fabula.memory.links.walking import Reached, neighbourhood

names = st.sampled_from("abcdef")
authored = st.builds(AuthoredEdge, names, st.sampled_from(sorted(RELATIONS)), names)
derived = st.builds(DerivedEdge, names, st.just("relates_to"), names, st.floats(0, 1))
edges: st.SearchStrategy[list[Edge]] = st.lists(authored | derived, max_size=12)


def test_siblings_by_a_common_parent_are_found() -> None:
    walk = neighbourhood("a", [AuthoredEdge("a", "part_of", "arc"), AuthoredEdge("b", "part_of", "arc")])
    assert walk.reached == [Reached("arc", 1, "part_of"), Reached("b", 2, "part_of")]
    assert len(walk.edges) == 2


def test_guesses_lead_on_too_and_tasks_and_people_do_not() -> None:
    found: list[Edge] = [DerivedEdge("a", "relates_to", "b", 0.9), AuthoredEdge("a", "blocks", "t")]
    found.append(AuthoredEdge("a", "about_person", "p"))
    assert [one.path for one in neighbourhood("a", found).reached] == ["b"]


def test_of_two_edges_the_smaller_relation_names_it() -> None:
    found = [AuthoredEdge("a", "supports", "b"), AuthoredEdge("b", "caused_by", "a")]
    assert neighbourhood("a", found).reached == [Reached("b", 1, "caused_by")]


def test_relations_narrow_the_walk_and_none_of_them_finds_nothing() -> None:
    found = [AuthoredEdge("a", "supports", "b"), AuthoredEdge("b", "part_of", "c")]
    assert [one.path for one in neighbourhood("a", found, relations=frozenset(("supports",))).reached] == ["b"]
    assert neighbourhood("a", found, relations=frozenset()).reached == []


@given(edges, names, st.integers(-1, 9))
def test_each_is_reached_once_nearest_first_within_the_depth(found: list[Edge], start: str, depth: int) -> None:
    walk = neighbourhood(start, found, depth)
    assert walk.reached == sorted(walk.reached, key=lambda one: (one.hops, one.path))
    assert len({one.path for one in walk.reached} | {start}) == len(walk.reached) + 1
    assert all(1 <= one.hops <= max(1, min(depth, 2)) for one in walk.reached)
    assert neighbourhood(start, list(reversed(found)), depth).reached == walk.reached


@given(edges, names, names)
def test_whoever_is_reached_reaches_back(found: list[Edge], one: str, other: str) -> None:
    there = {reached.path: reached.hops for reached in neighbourhood(one, found).reached}
    back = {reached.path: reached.hops for reached in neighbourhood(other, found).reached}
    assert there.get(other) == back.get(one)
