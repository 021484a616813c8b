"""The passage of a text that is most like a quote: shown to whoever quoted it wrongly. Pure, linear."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

PASSAGE_CHARACTERS = 400
LEAST_SHARE = 1 / 3  # of the quote's words; a passage with fewer tells nothing
_WORD = re.compile(r"\w+|[^\w\s]")


def nearest_passage(texts: Iterable[str], quote: str) -> str:
    """Return the run of words, as many as the quote has, that shares most words with it; "" when none is like it.

    The words are compared without case; the passage is verbatim, at most 400 characters of it. The first of equals.
    """
    wanted = [word.lower() for word in _WORD.findall(quote)]
    best, least = "", len(wanted) * LEAST_SHARE
    for text in texts if wanted else ():
        shared, passage = _best_window(text, wanted)
        if shared > least or (shared == least and not best):
            best, least = passage, shared
    return best[:PASSAGE_CHARACTERS]


def _best_window(text: str, wanted: list[str]) -> tuple[int, str]:
    """Slide a window of the quote's length over the words of a text, counting what it shares as it goes."""
    spans = [match.span() for match in _WORD.finditer(text)]
    words = [text[start:end].lower() for start, end in spans]
    missing = Counter(wanted)
    size = min(len(wanted), len(words))
    shared = best = best_at = 0
    for at, word in enumerate(words):
        shared += missing[word] > 0
        missing[word] -= 1
        if at >= size:
            missing[words[at - size]] += 1
            shared -= missing[words[at - size]] > 0
        if at + 1 >= size and shared > best:
            best, best_at = shared, at + 1 - size
    return best, text[spans[best_at][0] : spans[best_at + size - 1][1]] if size else ""
