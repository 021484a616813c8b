"""Words that the record does not know: what was probably meant by them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fabula.kernel.values import replace
from fabula.search.matching import Wanted
from fabula.search.spelling import ByLength, by_length, nearest
from fabula.search.terms import Term, quoted

if TYPE_CHECKING:
    from collections.abc import Sequence

    import apsw

    from fabula.record.search.arms import TermStatistics
    from fabula.search.matching import Tokenizer

MAXIMUM_WORDS = 3  # looked up in one query
MAXIMUM_KNOWN = 50_000  # stems with one first letter


class Vocabulary:
    """The stems of the text index, through one connection."""

    def __init__(self, connection: apsw.Connection, tokenizer: Tokenizer) -> None:
        self._connection = connection
        self._tokenizer = tokenizer
        self._remembered: dict[str, ByLength] = {}
        self._version: object = None
        connection.execute(
            "create virtual table if not exists temp.passages_words using fts5vocab(main, passages_fts, row)"
        )

    def corrected(self, statistics: Sequence[TermStatistics]) -> dict[str, Term]:
        """Return a better term for each word that occurs nowhere and has a near neighbour, by the word."""
        unknown = [one.term for one in statistics if one.is_unknown and _is_word(one.term)]
        found = {term.text: self._meant(term) for term in unknown[:MAXIMUM_WORDS]}
        return {word: term for word, term in found.items() if term is not None}

    def _meant(self, term: Term) -> Term | None:
        stems = self._tokenizer.stems(term.text)
        if len(stems) != 1:
            return None
        (stem,) = stems
        near = nearest(term.text.lower(), stem, self._known(stem[0]))
        if not near:
            return None
        return replace(term, forms=tuple(map(quoted, near)), parts=(), wanted=Wanted(tuple(near)), text=near[0])

    def _known(self, letter: str) -> ByLength:
        """Return the stems that begin with a letter; they are remembered until the map changes."""
        version = self._connection.pragma("data_version")
        if version != self._version:
            self._remembered.clear()
            self._version = version
        known = self._remembered.get(letter)
        if known is None:
            rows: list[Any] = self._connection.execute(
                "select term, doc from temp.passages_words where term >= ? and term < ? limit ?",
                (letter, chr(ord(letter) + 1), MAXIMUM_KNOWN),
            ).fetchall()
            known = self._remembered[letter] = by_length(rows)
        return known


def _is_word(term: Term) -> bool:
    return term.text.isalpha() and not term.required
