"""A lower-casing WordPiece tokenizer, as BERT's: words to the ids of their longest known pieces."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

UNKNOWN = "[UNK]"
CONTINUATION = "##"
MAXIMUM_WORD = 100  # characters; a longer word is unknown
MAXIMUM_REMEMBERED = 50_000  # words whose pieces are kept: a bound on memory, not on input

#: One ideograph, a run of letters and digits, or one mark.
_WORD = re.compile(
    "[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0002ffff]|[^\\W_\u3400-\u4dbf\u4e00-\u9fff]+|[^\\w\\s]|_"
)


class WordPiece:
    """Splits text into the ids of ``vocabulary`` (piece to id; pieces inside a word begin with ``##``)."""

    def __init__(self, vocabulary: Mapping[str, int]) -> None:
        self._vocabulary = vocabulary
        self._unknown = vocabulary.get(UNKNOWN)
        self._remembered: dict[str, tuple[int, ...]] = {}

    def ids(self, text: str, limit: int) -> list[int]:
        """Return the ids of at most ``limit`` pieces of ``text``; unknown words give none."""
        found: list[int] = []
        for match in _WORD.finditer(_normalised(text)):
            word = match.group()
            pieces = self._remembered.get(word)
            if pieces is None:
                pieces = self._remember(word)
            found += pieces
            if len(found) >= limit:
                return found[:limit]
        return found

    def _remember(self, word: str) -> tuple[int, ...]:
        if len(self._remembered) >= MAXIMUM_REMEMBERED:
            self._remembered.clear()
        pieces = self._remembered[word] = self._pieces(word)
        return pieces

    def _pieces(self, word: str) -> tuple[int, ...]:
        """Take the longest known piece again and again; a word with a part that is not known has none."""
        if len(word) > MAXIMUM_WORD:
            return ()
        found: list[int] = []
        start = 0
        while start < len(word):
            for end in range(len(word), start, -1):
                piece = self._vocabulary.get((CONTINUATION if start else "") + word[start:end])
                if piece is not None and piece != self._unknown:
                    found.append(piece)
                    start = end
                    break
            else:
                return ()
        return tuple(found)


def _normalised(text: str) -> str:
    text = text.lower()
    if text.isascii():
        return text
    return "".join(c for c in unicodedata.normalize("NFD", text) if unicodedata.category(c) != "Mn")
