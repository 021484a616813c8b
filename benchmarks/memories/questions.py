"""Documents and questions about them, from whichever set: what the comparison is made of."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import apsw

from fabula.search.stopwords import is_stop_word

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Question:
    """A question. ``group``: those of one group are resampled together. Without answers nothing answers it.

    ``stale`` are documents that an answer replaced.
    """

    kind: str
    text: str
    answers: frozenset[str]
    stale: frozenset[str]
    group: str
    workspace: str | None = None


@dataclass(frozen=True, slots=True)
class Found:
    """What a system found: ids, the best first; ``is_unsure``: it says itself that this is hardly an answer."""

    ranking: Sequence[str]
    is_unsure: bool = False


class PlainBM25:
    """FTS5's BM25 (porter stems, OR of the words) over whole documents; ``telling``: without stop words."""

    def __init__(self, documents: Iterable[tuple[str, str | None, str]]) -> None:
        """Take documents as (id, workspace, text)."""
        self._connection = apsw.Connection(":memory:")
        self._connection.execute(
            "create virtual table documents using fts5(text, workspace unindexed, id unindexed,"
            " tokenize='porter unicode61 remove_diacritics 2')"
        )
        self._connection.executemany("insert into documents values(?3, ?2, ?1)", documents)

    def ask(self, question: Question, *, telling: bool = False, limit: int = 40) -> Found:
        """Return ids, the best first."""
        given = _WORD.findall(question.text)
        words = [word for word in given if not (telling and is_stop_word(word))] or given
        match = " OR ".join(f'"{word}"' for word in words)
        rows = self._connection.execute(
            "select id from documents where documents match ?1 and (?2 is null or workspace = ?2)"
            " order by bm25(documents), rowid limit ?3",
            (match, question.workspace, limit),
        )
        return Found([str(one) for (one,) in rows])


def ids_of(paths: Iterable[str], known: Mapping[str, str]) -> list[str]:
    """Return the ids of documents at some paths; other files are left out."""
    return [known[path] for path in paths if path in known]
