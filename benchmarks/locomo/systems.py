"""The two systems that are compared: Fabula through its own pipeline, and plain BM25 over the same texts."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import apsw
from locomo.dataset import turn_text, write_transcripts

from fabula.app.record.finding import prepare_vectors
from fabula.app.record.search import SearchRequest, search
from fabula.app.wiring import App
from fabula.kernel.clock import SystemClock
from fabula.search.stopwords import is_stop_word

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from locomo.dataset import Conversation

    from fabula.app.record.search import SearchResult

_WORD = re.compile(r"\w+")


class Fabula:
    """A real record in a temporary home: transcripts, scan, search."""

    def __init__(self, folder: Path, conversations: Sequence[Conversation], *, vectors: bool) -> None:
        home = folder / "home"
        config = folder / "claude"
        home.mkdir()
        for conversation in conversations:
            write_transcripts(conversation, config)
        environment = {"FABULA_HOME": str(home / ".fabula"), "HOME": str(home), "CLAUDE_CONFIG_DIR": str(config)}
        self.app = App(environment=environment, cwd=home, user_home=home, clock=SystemClock())
        self.app.record.scan(seal=False)
        if vectors:
            prepare_vectors(self.app)

    def ask(self, question: str, conversation: Conversation, *, by: str, limit: int) -> SearchResult:
        """Search one conversation as a user would who works in its folder."""
        self.app.__dict__["project"] = (conversation.cwd, conversation.cwd)
        return search(self.app, SearchRequest(question, limit=limit, by=by))  # type: ignore[arg-type]


class PlainBM25:
    """FTS5's BM25 (porter stems, OR of the words) over sessions and over turns; ``telling``: without stop words."""

    def __init__(self, conversations: Sequence[Conversation]) -> None:
        self._connection = apsw.Connection(":memory:")
        tokenizer = "porter unicode61 remove_diacritics 2"
        for table in ("sessions", "turns"):
            self._connection.execute(
                f"create virtual table {table} using fts5(text, owner unindexed, id unindexed, tokenize='{tokenizer}')"
            )
        for one in conversations:
            for session, turns in one.sessions.items():
                texts = [turn_text(turn) for turn in turns]
                whole = "\n".join([one.dates[session], *texts])
                self._connection.execute("insert into sessions values(?,?,?)", (whole, one.number, one.thread(session)))
                for number, text in enumerate(texts, 1):
                    row = (text, one.number, one.turn(session, number))
                    self._connection.execute("insert into turns values(?,?,?)", row)

    def ask(
        self, table: str, question: str, conversation: Conversation, limit: int, *, telling: bool = False
    ) -> list[str]:
        """Return ids, the best first."""
        given = _WORD.findall(question)
        words = [word for word in given if not (telling and is_stop_word(word))] or given
        match = " OR ".join(f'"{word}"' for word in words)
        statement = f"select id from {table} where {table} match ? and owner = ? order by bm25({table}), rowid limit ?"
        return [str(key) for (key,) in self._connection.execute(statement, (match, conversation.number, limit))]
