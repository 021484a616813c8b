"""The memories and questions that retrieval is measured on are what their README says."""

from __future__ import annotations

import json
from collections import Counter
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from fabula.memory.format.entities import parse_entity
from fabula.memory.format.vocabulary import TYPES

DATA = Path(__file__).resolve().parents[2] / "benchmarks" / "data"
KINDS = {"paraphrase", "identifier", "current", "entity", "negative"}


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


MEMORIES = {one["id"]: one for one in lines(DATA / "coding_memories.jsonl")}
QUESTIONS = sorted(DATA.glob("coding_questions*.jsonl"))


def replaced_by(name: str) -> set[str]:
    """Return every memory that one replaces, in however many steps."""
    found: set[str] = set()
    while (older := MEMORIES[name].get("supersedes")) is not None:
        found.add(older)
        name = older
    return found


def test_memories_are_many_distinct_and_of_known_types() -> None:
    assert len(MEMORIES) >= 300
    assert len({one["claim"] for one in MEMORIES.values()}) == len(MEMORIES)
    assert {one["type"] for one in MEMORIES.values()} <= set(TYPES)
    for one in MEMORIES.values():
        assert all(parse_entity(reference) for reference in one["entities"]), one["id"]


def test_what_replaces_a_memory_is_newer_and_the_only_one() -> None:
    newer = {name: one["supersedes"] for name, one in MEMORIES.items() if "supersedes" in one}
    assert len(set(newer.values())) == len(newer)
    for name, older in newer.items():
        assert date.fromisoformat(MEMORIES[older]["date"]) < date.fromisoformat(MEMORIES[name]["date"])


@pytest.mark.parametrize("path", QUESTIONS, ids=lambda path: path.stem)
def test_questions_name_memories_that_are_there(path: Path) -> None:
    asked = lines(path)
    assert len({one["id"] for one in asked}) == len({one["question"].casefold() for one in asked}) == len(asked) >= 200
    assert set(Counter(one["kind"] for one in asked)) == KINDS
    for one in asked:
        assert {*one["answers"], *one["stale"]} <= MEMORIES.keys(), one["id"]
        assert bool(one["answers"]) == (one["kind"] != "negative"), one["id"]


@pytest.mark.parametrize("path", QUESTIONS, ids=lambda path: path.stem)
def test_what_an_answer_replaced_is_stale_and_no_answer_is(path: Path) -> None:
    for one in lines(path):
        older: set[str] = set().union(*map(replaced_by, one["answers"]))
        assert set(one["stale"]) >= older - set(one["answers"]), one["id"]
        assert not set(one["stale"]) & set(one["answers"]), one["id"]
        assert one["stale"] or one["kind"] != "current", one["id"]
