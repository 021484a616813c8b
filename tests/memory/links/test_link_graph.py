"""Measures of a graph that do not depend on the order in which its edges come."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fabula.memory.links.edges import AuthoredEdge, DerivedEdge, Edge
from fabula.memory.links.graph import bridges, communities, pagerank, weighed

NODES = [f"n{at}" for at in range(6)]
names = st.sampled_from([*NODES, "absent"])
edges = st.lists(st.builds(DerivedEdge, names, st.just("relates_to"), names, st.floats(0, 1)), max_size=15)


def linked(*pairs: str) -> list[Edge]:
    return [AuthoredEdge(pair[0], "relates_to", pair[1]) for pair in pairs]


@given(edges, st.randoms(use_true_random=False))
def test_no_measure_depends_on_the_order_of_edges(found: list[Edge], random: object) -> None:
    mixed = list(found)
    random.shuffle(mixed)  # type: ignore[attr-defined]
    nodes = reversed(NODES)
    assert pagerank(nodes, mixed) == pagerank(NODES, found)
    groups = communities(NODES, found)
    assert communities(NODES, mixed) == groups
    assert bridges(groups, mixed) == bridges(groups, found)


@given(edges)
@example([DerivedEdge("n0", "relates_to", "n1", 5e-324)])
def test_ranks_are_positive_and_add_up_to_one(found: list[Edge]) -> None:
    ranks = pagerank(NODES, found)
    assert sorted(ranks) == NODES
    assert sum(ranks.values()) == pytest.approx(1.0, abs=1e-6)
    assert min(ranks.values()) > 0


def test_a_hub_stands_above_those_that_point_at_it() -> None:
    ranks = pagerank("abc", linked("ab", "cb"))
    assert ranks["b"] > ranks["a"] == ranks["c"]
    assert pagerank([], []) == {}


def test_seeds_draw_rank_and_those_that_are_no_nodes_are_passed_over() -> None:
    even = pagerank("abc", linked("ab"))
    assert pagerank("abc", linked("ab"), {"c": 1.0})["c"] > even["c"]
    assert pagerank("abc", linked("ab"), {"nowhere": 1.0, "a": -1.0}) == even


def test_parallel_edges_count_as_their_strongest() -> None:
    twice: list[Edge] = [DerivedEdge("a", "relates_to", "b", 0.2), DerivedEdge("a", "supports", "b", 0.7)]
    assert weighed("ab", [*twice, *linked("aa")]) == {"a": {"b": 0.7}, "b": {}}


def test_labels_that_weigh_the_same_go_to_the_smallest() -> None:
    found: list[Edge] = [
        DerivedEdge("n2", "relates_to", "n3", 0.5),
        DerivedEdge("n0", "relates_to", "n3", 0.25),
        DerivedEdge("n1", "relates_to", "n0", 0.25),
    ]
    assert communities(["n0", "n1", "n2", "n3"], found) == {}  # two pairs, and a pair is no community


def test_two_triangles_are_two_communities_and_the_edge_between_is_a_bridge_for_both_ends() -> None:
    weak: list[Edge] = [DerivedEdge("a", "relates_to", "x", 0.5), DerivedEdge("x", "relates_to", "a", 0.5)]
    found = [*linked("ab", "bc", "ca", "xy", "yz", "zx"), *weak]
    groups = communities("abcxyz", found)
    assert groups == {**dict.fromkeys("abc", "a"), **dict.fromkeys("xyz", "x")}
    assert bridges(groups, found) == {"a": 1, "x": 1}


@given(edges)
def test_a_community_has_three_members_and_is_named_by_its_smallest(found: list[Edge]) -> None:
    groups = communities(NODES, found)
    for name in set(groups.values()):
        members = sorted(node for node, group in groups.items() if group == name)
        assert len(members) >= 3
        assert members[0] == name
    degree = {node: len([e for e in found if node in {e.source, e.target}]) for node in NODES}
    assert all(count <= degree[node] for node, count in bridges(groups, found).items())
