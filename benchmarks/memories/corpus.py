"""A corpus of Fabula's in this process: the one place of the memory's measurements that knows its interfaces."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

from fabula.memory.index.opening import open_index
from fabula.memory.retrieval import ranking
from fabula.memory.retrieval.retriever import Retriever
from fabula.memory.retrieval.values import Ask, Scope
from fabula.memory.store.batch import apply
from fabula.memory.store.correcting import correct
from fabula.memory.store.guarding import Secrets
from fabula.memory.store.lines import read_lines
from fabula.memory.store.linking import link
from fabula.memory.store.opening import open_corpus
from fabula.memory.store.scaffold import init_corpus
from fabula.memory.store.store import Store
from fabula.memory.store.values import Correction, NewMemory
from fabula.memory.store.writing import write
from fabula.models.choosing import EmbedderSettings, embedder_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from fabula.memory.retrieval.values import Answer

ARMS = {"text": "TEXT", "vector": "VECTOR", "recency": "RECENCY", "salience": "SALIENCE"}  # their weights' names
LIMIT = 40


class HandSet:
    """A clock that stands where it was set."""

    def __init__(self, now_ms: int) -> None:
        self.now = now_ms

    def now_ms(self) -> int:
        """Return the time it was set to."""
        return self.now


def environment(home: Path) -> dict[str, str]:
    """Return an environment with a home of its own and somebody who commits."""
    names = {f"GIT_{who}_{what}": "a@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    return {"PATH": os.environ["PATH"], "HOME": str(home), "GIT_CONFIG_NOSYSTEM": "1", **names}


class Corpus:
    """A corpus, its index, its store and its search."""

    def __init__(self, root: Path, environ: Mapping[str, str], clock: HandSet) -> None:
        self.root = root
        self.clock = clock
        init_corpus(root, environ, clock)
        self._corpus = open_corpus(root, environ)
        self.index = open_index(root, self._corpus.repo, clock)
        self.index.refresh()
        self.store = Store(self._corpus.repo(), self.index, clock, Secrets())
        embedder = embedder_of(EmbedderSettings("static"), _table())
        self.retriever = Retriever(self.index, embedder, states=lambda _: {})

    def close(self) -> None:
        """Close what is open."""
        self.index.close()
        self._corpus.close()

    def write(self, memory: NewMemory) -> str:
        """Write a memory; return its path."""
        return write(self.store, memory).path

    def replace(self, old: str, memory: NewMemory) -> tuple[str, str]:
        """Write a memory that takes the place of another by correction; return its path and where the old one is."""
        done = correct(
            self.store,
            Correction(
                old, "it changed", title=memory.title, claim=memory.claim, body=memory.body, type=memory.type,
                tags=memory.tags, entities=memory.entities,
            ),
        )  # fmt: skip
        assert done.archived is not None
        return done.path, done.archived

    def supersede(self, old: str, memory: NewMemory) -> str:
        """Write a memory that supersedes another by a link alone, both stay where they are; return its path."""
        path = self.write(memory)
        link(self.store, path, "supersedes", old)
        return path

    def ask(self, question: str, *, workspace: str | None = None, archived: bool = False, limit: int = LIMIT) -> Answer:
        """Search as ``memory search`` does."""
        scope = Scope(workspace=workspace, archived=archived)
        return self.retriever.search(Ask(question, self.clock.now, scope, limit))

    def apply(self, batch: str) -> int:
        """Write a batch of JSON lines in one commit; return how many memories it wrote."""
        return apply(self.store, read_lines(batch)).summary.written

    def write_line(self, line: str) -> str:
        """Write the one memory of a line; return its path."""
        (memory,) = read_lines(line)
        assert isinstance(memory, NewMemory)
        return self.write(memory)

    def search(self, query: str) -> int:
        """Search as a person does: what is new is taken in first. Return how many hits there are."""
        self.index.refresh()
        return len(self.ask(query, limit=10).hits)

    def recall(self, query: str, budget: int = 6_000) -> int:
        """Return how many characters a recall hands out, what is new taken in first."""
        self.index.refresh()
        return self.retriever.recall(Ask(query, self.clock.now), budget).spent

    def prepare(self) -> int:
        """Make all vectors that are missing."""
        return self.retriever.prepare()


@contextmanager
def weights(**changed: float) -> Iterator[None]:
    """Let arms weigh otherwise for a while."""
    before = {name: getattr(ranking, ARMS[name]) for name in changed}
    for name, value in changed.items():
        setattr(ranking, ARMS[name], value)
    try:
        yield
    finally:
        for name, value in before.items():
            setattr(ranking, ARMS[name], value)


def alone(arm: str) -> dict[str, float]:
    """Return weights with which one arm decides alone."""
    return {name: float(name == arm) for name in ARMS}


def _table() -> Path:
    from pathlib import Path

    from fabula import data

    return Path(data.__file__ or "").parent / "embedding"
