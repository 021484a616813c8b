"""A domain that Fabula has never heard of is modelled with the five open axes alone: no line of code knows of it."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import fabula as package
from fabula.testing.outcome import Outcome

Fabula = Callable[..., Outcome]
WORDS = ("lighthouse", "foghorn", "northern-lights")


@pytest.fixture
def corpus(fabula: Fabula, tmp_path: Path) -> Path:
    assert fabula("init", "--memory").status == 0
    return tmp_path / "fabula-home" / "memory"


@pytest.fixture
def lights(fabula: Fabula, corpus: Path) -> dict[str, str]:
    """Three lighthouses with facets, entities, a workspace and paths of their own."""
    made = {}
    for name, keeper, state, range_in_miles in (
        ("Skerry", "Ailsa", "lit", "18"),
        ("Mull", "Ailsa", "dark", "24"),
        ("Rinns", "Ewan", "lit", "24"),
    ):
        result = fabula(
            "memory", "write", "--type", "semantic", "--title", f"{name} light", "--claim", f"{name} light is {state}.",
            "--facet", f"state={state}", "--facet", f"range={range_in_miles}", "--entity", f"keeper:{keeper}",
            "--entity", f"lighthouse:{name}", "--tag", "lantern", "--workspace", "northern-lights",
            "--path", f"projects/northern-lights/lanterns/{name.lower()}.html", "--json",
        )  # fmt: skip
        assert result.status == 0, result.err
        made[name] = result.data["path"]
    return made


def found(fabula: Fabula, *words: str) -> set[str]:
    memories: list[dict[str, Any]] = fabula("memory", "list", *words, "--workspace", "northern-lights", "--json").data[
        "memories"
    ]
    return {one["title"].removesuffix(" light") for one in memories}


def test_the_domain_is_found_by_each_of_its_axes(fabula: Fabula, lights: dict[str, str]) -> None:
    assert found(fabula) == {"Skerry", "Mull", "Rinns"}
    assert found(fabula, "--facet", "state=lit") == {"Skerry", "Rinns"}
    assert found(fabula, "--entity", "keeper:ailsa") == {"Skerry", "Mull"}
    assert found(fabula, "--tag", "Lantern") == {"Skerry", "Mull", "Rinns"}
    hits = fabula(
        "memory", "search", "light", "--facet", "state=lit", "--entity", "keeper:Ailsa", "--workspace",
        "northern-lights", "--json",
    ).data["hits"]  # fmt: skip
    assert [hit["path"] for hit in hits] == [lights["Skerry"]]


def test_its_paths_are_kept_and_its_relations_are_walked(fabula: Fabula, corpus: Path, lights: dict[str, str]) -> None:
    assert set(lights.values()) == {
        f"projects/northern-lights/lanterns/{name}.html" for name in ("skerry", "mull", "rinns")
    }
    assert fabula("memory", "link", lights["Mull"], "caused_by", lights["Skerry"]).status == 0
    near = fabula("memory", "neighbors", lights["Skerry"]).out
    assert lights["Mull"] in near


def test_a_state_that_changes_is_a_correction_and_the_old_one_is_kept(
    fabula: Fabula, corpus: Path, lights: dict[str, str]
) -> None:
    changed = fabula(
        "memory", "correct", lights["Mull"], "--claim", "Mull light is lit.", "--facet", "state=lit",
        "--reason", "repaired", "--json",
    )  # fmt: skip
    assert changed.status == 0, changed.err
    assert "Mull" in found(fabula, "--facet", "state=lit")
    assert "Mull light is dark." in (corpus / changed.data["archived"]).read_text()


def test_the_doctor_finds_nothing_wrong_with_it(fabula: Fabula, lights: dict[str, str]) -> None:
    checks = fabula("doctor", "--json").data["checks"]
    assert all(check["state"] == "good" for check in checks if check["name"].startswith("memory"))


def test_no_line_of_the_source_knows_the_domain() -> None:
    source = Path(package.__file__).parent
    known = subprocess.run(
        ["grep", "-rliE", "|".join(WORDS), "--include=*.py", str(source)], capture_output=True, check=False
    )
    assert known.stdout == b""
