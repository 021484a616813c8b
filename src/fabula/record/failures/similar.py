"""How alike two error signatures are: by the words they share, rare words counting more. Pure."""

from __future__ import annotations

import re
from collections import Counter
from math import log
from typing import TYPE_CHECKING

from fabula.kernel.values import frozen

if TYPE_CHECKING:
    from collections.abc import Iterable

_WORD = re.compile(r"[^\W_][\w$-]+|\d+")
_PLACEHOLDERS = re.compile(r"<(?:n|hex|uuid|time|addr|url)>")
FLOOR = 0.5  # below it two errors are not said to be alike
_PART = 0.9  # what a whole error that only contains the words asked for can reach


@frozen
class Alike:
    """A signature and how alike it is to the one asked for: 1 is the same words."""

    signature: str
    score: float


def words_of(signature: str) -> frozenset[str]:
    """Return the words of a signature that can be compared."""
    return frozenset(word.lower() for word in _WORD.findall(_PLACEHOLDERS.sub(" ", signature)))


def most_alike(wanted: str, signatures: Iterable[str], limit: int) -> list[Alike]:
    """Return the signatures most like ``wanted``, best first, none below :data:`FLOOR`.

    The score is the weighted share of common words among all words of both, or 0.9 of the share of the wanted words
    (at least three of them) that the other has, whichever is more. Words weigh by their rarity.
    """
    query = words_of(wanted)
    sets = {signature: words_of(signature) for signature in signatures}
    spread = Counter(word for words in sets.values() for word in words)
    total = len(sets) + 1
    weight = {word: log(1 + total / (1 + spread[word])) for word in spread.keys() | query}
    asked = sum(weight[word] for word in query)
    found: list[Alike] = []
    for signature, words in sets.items():
        common = sum(weight[word] for word in words & query)
        if not common:
            continue
        either = asked + sum(weight[word] for word in words) - common
        score = max(common / either, _PART * common / asked if len(query) >= 3 else 0.0)
        if score >= FLOOR:
            found.append(Alike(signature, round(score, 4)))
    return sorted(found, key=lambda one: (-one.score, one.signature))[:limit]
