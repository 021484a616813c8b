"""Nothing that a machine guessed lowers anyone's standing: the type checker says so, and so does running it."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mypy.api import run as mypy_run

import fabula.memory
from fabula.memory.links.edges import AuthoredEdge, DerivedEdge
from fabula.memory.links.evidence import contradictions, graph_standing, require_authored, supports
from fabula.memory.links.succession import Succession

GUESSES = [DerivedEdge("a", "contradicts", "b", 1.0), DerivedEdge("a", "supersedes", "b", 1.0)]
names = st.sampled_from("abcde")
authored = st.builds(AuthoredEdge, names, st.sampled_from(["contradicts", "supports", "relates_to", "blocks"]), names)


LOWERING: dict[str, Callable[[Any], Any]] = {
    "contradictions": contradictions,
    "supports": supports,
    "graph_standing": partial(graph_standing, "ab"),
    "require_authored": require_authored,
    "Succession": Succession,
}


@pytest.mark.parametrize("name", LOWERING)
def test_a_guess_is_refused_wherever_standing_is_lowered(name: str) -> None:
    with pytest.raises(TypeError, match="not written by anyone"):
        LOWERING[name](GUESSES)


def test_the_type_checker_refuses_a_guess_wherever_standing_is_lowered(tmp_path: Path) -> None:
    lines = [
        "from fabula.memory.links.edges import AuthoredEdge, DerivedEdge, Edge",
        "from fabula.memory.links.evidence import contradictions, graph_standing, require_authored, supports",
        "from fabula.memory.links.succession import Succession",
        "def use(written: list[AuthoredEdge], guesses: list[DerivedEdge], mixed: list[Edge]) -> None:",
    ]
    calls = ["contradictions({})", "supports({})", "graph_standing('ab', {})", "require_authored({})", "Succession({})"]
    allowed = [f"    {call.format('written')}" for call in calls]
    refused = [f"    {call.format(given)}" for call in calls for given in ("guesses", "mixed")]
    program = tmp_path / "use.py"
    program.write_text("\n".join([*lines, *allowed, *refused, ""]), encoding="utf-8")
    out, _, _ = mypy_run(["--strict", "--no-error-summary", "--hide-error-context", "--cache-dir",
                          str(tmp_path / "cache"), "--follow-imports=silent", str(program)])  # fmt: skip
    found = [line.split(":")[1] for line in out.splitlines() if ": error:" in line and "[arg-type]" in line]
    first = len(lines) + len(allowed) + 1
    assert found == [str(first + at) for at in range(len(refused))], out


def _functions(module: str) -> list[Callable[..., Any]]:
    loaded = import_module(module)
    own = [value for value in vars(loaded).values() if getattr(value, "__module__", "") == module]
    classes = [value for value in own if inspect.isclass(value)]
    methods = [each for one in classes for each in vars(one).values() if inspect.isfunction(each)]
    return [*(value for value in own if inspect.isfunction(value)), *methods]


def test_no_function_of_standing_succession_or_evidence_has_a_parameter_for_guesses() -> None:
    folder = Path(fabula.memory.__path__[0])
    modules = [f"fabula.memory.standing.{file.stem}" for file in sorted((folder / "standing").glob("[a-z]*.py"))]
    modules += ["fabula.memory.links.evidence", "fabula.memory.links.succession"]
    asked = 0
    for module in modules:
        for function in _functions(module):
            for name, kind in getattr(function, "__annotations__", {}).items():
                asked += 1
                words = str(kind).replace("AuthoredEdge", "")
                assert "Edge" not in words, f"{module}.{function.__name__}: {name} takes {kind}"
    assert asked > 100


@given(st.lists(authored))
def test_a_contradiction_counts_for_both_and_once(edges: list[AuthoredEdge]) -> None:
    counts = contradictions(edges)
    mirrored = [AuthoredEdge(edge.target, edge.relation, edge.source) for edge in edges]
    assert contradictions([*edges, *mirrored]) == counts == contradictions(reversed(edges))
    for path, count in counts.items():
        others = {
            (edge.source, edge.target)[edge.source == path]
            for edge in edges
            if edge.relation == "contradicts" and path in {edge.source, edge.target} and edge.source != edge.target
        }
        assert count == len(others)


def test_support_counts_for_what_is_supported() -> None:
    edges = [AuthoredEdge("a", "supports", "b"), AuthoredEdge("c", "supports", "b"), AuthoredEdge("a", "supports", "b")]
    assert supports(edges) == {"b": 2}


def test_tasks_and_people_have_no_part_in_the_graph() -> None:
    edges = [
        AuthoredEdge("a", "blocks", "b"),
        AuthoredEdge("a", "about_person", "b"),
        AuthoredEdge("a", "part_of", "c"),
    ]
    assert graph_standing("ab", edges).edges == 0
    measured = graph_standing("abc", edges)
    assert (measured.edges, measured.bridges) == (1, {})
    assert measured.ranks["c"] > measured.ranks["a"] == measured.ranks["b"]
