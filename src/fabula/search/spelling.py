"""Words near a word that the index does not know: a typo in a rare word still finds what was meant."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

SHORTEST = 4  # letters; shorter words have too many neighbours
TWO_EDITS_FROM = 8  # letters; shorter words may differ by one edit
NEIGHBOURS = 3


def nearest(word: str, stem: str, known: Iterable[tuple[str, int]]) -> list[str]:
    """Return the stems of ``known`` (stem, number of texts) that are closest to a misspelt word, the best first.

    Edits are insertions, deletions, substitutions and swaps of neighbours; the first letter is taken as right. A typo
    may keep the word from being stemmed (*configuraton*), so its beginning is compared too.
    """
    if len(word) < SHORTEST:
        return []
    allowed = 2 if len(word) >= TWO_EDITS_FROM else 1
    found = []
    for other, texts in known:
        if len(other) < SHORTEST - 1 or abs(len(other) - len(stem)) > 6:
            continue
        edits = _edits_to(word, stem, other, allowed)
        if edits is not None:
            found.append((edits, -len(other), -texts, other))
    found.sort()
    best = found[0][0] if found else 0
    return [other for edits, _, _, other in found if edits == best][:NEIGHBOURS]


def _edits_to(word: str, stem: str, other: str, allowed: int) -> int | None:
    if abs(len(stem) - len(other)) <= allowed and len(set(stem) ^ set(other)) <= 2 * allowed:
        edits = distance(stem, other, allowed)
        if edits is not None:
            return edits
    rest = len(word) - len(other)
    if len(other) >= 5 and 2 <= rest <= 6:
        head = word[: len(other)]
        if len(set(head) ^ set(other)) <= 2:
            return distance(head, other, 1)
    return None


def distance(left: str, right: str, allowed: int) -> int | None:
    """Return the edits between two words, or ``None`` when there are more than ``allowed``."""
    if abs(len(left) - len(right)) > allowed:
        return None
    before: list[int] = []
    row = list(range(len(right) + 1))
    for i, a in enumerate(left, 1):
        two_before, before, row = before, row, [i] + [0] * len(right)
        for j, b in enumerate(right, 1):
            row[j] = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (a != b))
            if i > 1 and j > 1 and a == right[j - 2] and left[i - 2] == b:
                row[j] = min(row[j], two_before[j - 2] + 1)
        if min(row) > allowed:
            return None
    return row[-1] if row[-1] <= allowed else None
