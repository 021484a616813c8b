"""Which memories say the same, and which only look as if they did. Pure.

Two texts whose vectors nearly coincide may differ by one "not", one number, one "beta": such a pair is never merged.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from fabula.kernel.values import frozen
from fabula.memory.standing.constants import MERGE_ABOVE, MERGES_MOST

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

#: English. A text in another language is guarded by its numbers alone.
NEGATIONS: Final = frozenset(
    "not no never none cannot without neither nor avoid disallow disallowed forbidden unsafe invalid false fail fails "
    "failed deny denied reject rejected".split()
)
VARIANTS: Final = frozenset("pro max beta alpha rc preview legacy deprecated experimental".split())

_CONTRACTED = re.compile(r"\b(\w+)n['’]t\b")
_IRREGULAR: Final = {"ca": "can", "wo": "will", "sha": "shall"}
_TOKEN = re.compile(r"[^\W_]+(?:\.\d+)*")
_HAS_DIGIT = re.compile(r"\d")


def words_of(text: str) -> list[str]:
    """Return the words of a text: composed, lower case, contractions written out, numbers with their points."""
    low = unicodedata.normalize("NFC", text).lower().replace("cannot", "can not")
    low = _CONTRACTED.sub(lambda match: f"{_IRREGULAR.get(match[1], match[1])} not", low)
    return _TOKEN.findall(low)


def disagree(left: str, right: str) -> bool:
    """Say whether exactly one of two texts negates."""
    return negates(left) != negates(right)


@lru_cache(maxsize=4096)  # one search asks about thirty claims, the next about the same ones
def negates(text: str) -> bool:
    """Say whether a text negates."""
    return _negates(words_of(text))


def _negates(words: Iterable[str]) -> bool:
    return not NEGATIONS.isdisjoint(words)


def veto(left: str | None, right: str | None) -> str | None:
    """Return why two texts must not be merged: ``negation``, ``numbers`` or ``variant``; ``None``: nothing speaks
    against it. Symmetric; a text never vetoes itself. A text that is missing cannot be compared, so it vetoes too
    (``unread``): memhtml let such a pair pass.
    """
    if left is None or right is None:
        return "unread"
    one, other = words_of(left), words_of(right)
    if _negates(one) != _negates(other):
        return "negation"
    if {word for word in one if _HAS_DIGIT.search(word)} != {word for word in other if _HAS_DIGIT.search(word)}:
        return "numbers"
    return "variant" if VARIANTS.intersection(one) != VARIANTS.intersection(other) else None


@frozen
class Pair:
    """Two memories and the cosine of their vectors."""

    left: str
    right: str
    similarity: float


def mergeable(pairs: Iterable[Pair], texts: Mapping[str, str], most: int = MERGES_MOST) -> list[Pair]:
    """Return the pairs that may be merged in one run, in the order given: cosine above 0.92, no veto, a memory in one
    pair at most, ``most`` of them.
    """
    taken: set[str] = set()
    chosen: list[Pair] = []
    for pair in pairs:
        if len(chosen) >= most:
            break
        if pair.left == pair.right or not pair.similarity > MERGE_ABOVE or {pair.left, pair.right} & taken:
            continue
        if veto(texts.get(pair.left), texts.get(pair.right)) is None:
            taken |= {pair.left, pair.right}
            chosen.append(pair)
    return chosen


def components(pairs: Iterable[tuple[str, str]]) -> list[list[str]]:
    """Return the groups that pairs hang together in, each sorted, ordered by their first; pairs in any order give the
    same. A pair of one with itself is a group of one.
    """
    roots: dict[str, str] = {}

    def root(node: str) -> str:
        while roots.setdefault(node, node) != node:
            roots[node] = roots[roots[node]]
            node = roots[node]
        return node

    for left, right in pairs:
        low, high = sorted((root(left), root(right)))
        roots[high] = low
    groups: dict[str, list[str]] = {}
    for node in sorted(roots):
        groups.setdefault(root(node), []).append(node)
    return [groups[name] for name in sorted(groups)]
