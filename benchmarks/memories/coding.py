"""The coding memories of ``benchmarks/data`` as a corpus of Fabula's, and the questions about them.

Each memory is written at noon of its day. One that replaces another does so in turn by a correction, which moves the
old one into the archive, and by a link ``supersedes`` alone, which leaves both in their places.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memories.questions import Question

from fabula.kernel.clock import parse_time
from fabula.memory.store.values import NewMemory

if TYPE_CHECKING:
    from memories.corpus import Corpus

DATA = Path(__file__).resolve().parents[1] / "data"
SETS = {"ours": DATA / "coding_questions.jsonl", "independent": DATA / "coding_questions_independent.jsonl"}


def lines_of(path: Path) -> list[dict[str, Any]]:
    """Return the objects of a file of JSON lines."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def memories() -> list[dict[str, Any]]:
    """Return the memories, the oldest first."""
    return sorted(lines_of(DATA / "coding_memories.jsonl"), key=lambda one: (one["date"], one["id"]))


def questions() -> list[Question]:
    """Return the questions of every set that is there; a question is a group of its own."""
    return [
        Question(
            one["kind"], one["question"], frozenset(one["answers"]), frozenset(one["stale"]), f"{name}:{one['id']}"
        )
        for name, path in SETS.items()
        if path.exists()
        for one in lines_of(path)
    ]  # fmt: skip


def write_all(corpus: Corpus) -> dict[str, str]:
    """Write every memory; return ids by the paths where they are in the end."""
    places: dict[str, str] = {}
    replaced = 0
    for one in memories():
        corpus.clock.now = parse_time(f"{one['date']}T12:00:00Z") or 0
        memory = NewMemory(
            one["title"], one["type"], one["claim"], tuple(one["body"]), workspace=one["workspace"],
            tags=tuple(one["tags"]), entities=tuple(one["entities"]),
            task_status="todo" if one["type"] == "task" else None,
        )  # fmt: skip
        old = one.get("supersedes")
        if old is None:
            places[one["id"]] = corpus.write(memory)
        elif replaced % 2:
            places[one["id"]] = corpus.supersede(places[old], memory)
        else:
            places[one["id"]], places[old] = corpus.replace(places[old], memory)
        replaced += old is not None
    return {path: name for name, path in places.items()}


def text_of(one: dict[str, Any]) -> str:
    """Return all that a memory says, for the plain baseline."""
    return "\n".join([one["title"], one["claim"], *one["body"], *one["tags"], *one["entities"]])
