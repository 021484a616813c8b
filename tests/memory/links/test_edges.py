"""Which relations there are, who may be related by them, and what was written stays apart from guesses."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabula.memory.format.vocabulary import EDGE_CLASSES, RELATIONS
from fabula.memory.links.edges import (
    DIRECTIONS,
    SYMMETRIC,
    AuthoredEdge,
    DerivedEdge,
    class_of,
    defect_of,
    distinct,
    joined,
    refusal,
)

relations = st.sampled_from(sorted(RELATIONS))
names = st.sampled_from("abcd")
authored = st.builds(AuthoredEdge, names, relations, names, st.integers(0, 3))
derived = st.builds(DerivedEdge, names, relations, names, st.floats(-0.5, 1.5))


def test_fourteen_relations_in_four_classes_each_with_a_direction() -> None:
    classes = [class_of(relation) for relation in RELATIONS]
    assert {name: classes.count(name) for name in EDGE_CLASSES} == {
        "memory": 9, "person": 2, "provenance": 1, "task": 2,
    }  # fmt: skip
    assert set(DIRECTIONS) == set(RELATIONS)
    assert set(RELATIONS) > SYMMETRIC
    assert all(DIRECTIONS[relation][0] == DIRECTIONS[relation][1] for relation in SYMMETRIC)


@pytest.mark.parametrize(
    ("edge", "word"),
    [
        (AuthoredEdge("a", "mentions", "b"), "no relation"),
        (AuthoredEdge("a", "supports", "a"), "itself"),
        (AuthoredEdge("", "supports", "a"), "missing"),
        (DerivedEdge("a", "about_person", "b", 0.9), "never guessed"),
        (DerivedEdge("a", "from_session", "b", 0.9), "never guessed"),
        (DerivedEdge("a", "blocks", "b", 0.9), "never guessed"),
        (DerivedEdge("a", "relates_to", "b", 1.1), "between 0 and 1"),
        (DerivedEdge("a", "relates_to", "b", float("nan")), "between 0 and 1"),
    ],
)
def test_edges_that_cannot_exist(edge: AuthoredEdge | DerivedEdge, word: str) -> None:
    assert word in (defect_of(edge) or "")


@given(relations)
def test_any_relation_may_be_written_between_two(relation: str) -> None:
    assert defect_of(AuthoredEdge("a", relation, "b")) is None
    assert AuthoredEdge("a", relation, "b").strength == 1.0


@pytest.mark.parametrize(
    ("relation", "source", "target", "may"),
    [
        ("supersedes", "semantic", "semantic", True),
        ("supersedes", "task", "semantic", False),
        ("supersedes", "semantic", "task", False),
        ("supersedes", "semantic", None, False),
        ("supersedes", None, "semantic", False),
        ("blocks", "task", "task", True),
        ("blocks", "task", "semantic", False),
        ("subtask_of", "task", None, False),
        ("about_person", "semantic", None, True),
        ("about_person", "task", "semantic", True),
        ("from_session", "task", None, True),
        ("from_session", None, None, False),
        ("mentions", "semantic", "semantic", False),
    ],
)
def test_who_may_be_related(relation: str, source: str | None, target: str | None, may: bool) -> None:
    assert (refusal(relation, source, target) is None) == may


@given(st.lists(authored))
def test_a_link_that_is_written_twice_is_one_edge(edges: list[AuthoredEdge]) -> None:
    found = distinct(edges)
    names = [(edge.source, edge.relation, edge.target) for edge in found]
    assert names == sorted(set(names))
    assert distinct(reversed(edges)) == found
    assert distinct([*edges, *edges]) == found
    assert all(defect_of(edge) is None for edge in found)


@given(st.lists(authored), st.lists(derived))
def test_a_guess_never_takes_the_place_of_what_was_written(
    edges: list[AuthoredEdge], guesses: list[DerivedEdge]
) -> None:
    both = joined(edges, guesses)
    assert [edge for edge in both if isinstance(edge, AuthoredEdge)] == distinct(edges)
    written = {frozenset((edge.source, edge.target)) for edge in distinct(edges) if class_of(edge.relation) == "memory"}
    for edge in both:
        if isinstance(edge, DerivedEdge):
            assert defect_of(edge) is None
            assert frozenset((edge.source, edge.target)) not in written
