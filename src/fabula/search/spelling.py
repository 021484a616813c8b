"""Words near a word that the index does not know: a typo in a rare word still finds what was meant."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable

SHORTEST = 4  # letters; shorter words have too many neighbours
TWO_EDITS_FROM = 8  # letters; shorter words may differ by one edit
NEIGHBOURS = 3
LONGEST_ENDING = 6  # letters that stemming takes from a word


#: Known stems by their length, with the number of texts that hold each.
ByLength: TypeAlias = "dict[int, list[tuple[str, int]]]"


def by_length(known: Iterable[tuple[str, int]]) -> ByLength:
    """Arrange stems for :func:`nearest`."""
    arranged: ByLength = {}
    for stem, texts in known:
        arranged.setdefault(len(stem), []).append((stem, texts))
    return arranged


def nearest(word: str, stem: str, known: ByLength) -> list[str]:
    """Return the known stems that are closest to a misspelt word, the best first.

    Edits are insertions, deletions, substitutions and swaps of neighbours; the first letter is taken as right. A typo
    may keep the word from being stemmed (*configuraton*), so a stem that its beginning nearly is counts too.
    """
    if len(word) < SHORTEST:
        return []
    allowed = 2 if len(word) >= TWO_EDITS_FROM else 1
    found = []
    letters = set(stem)
    for length in range(max(SHORTEST - 1, len(stem) - allowed), len(stem) + allowed + 1):
        for other, texts in known.get(length, ()):
            edits = distance(stem, other, allowed) if len(letters.symmetric_difference(other)) <= 2 * allowed else None
            if edits is not None:
                found.append((edits, -len(other), -texts, other))
    for length in range(max(5, len(word) - LONGEST_ENDING), len(word) - 1):
        head = word[:length]
        for other, texts in known.get(length, ()):
            edits = distance(head, other, 1) if other[:3] == head[:3] else None
            if edits is not None:
                found.append((edits, -len(other), -texts, other))
    found.sort()
    best = found[0][0] if found else 0
    return list(dict.fromkeys(other for edits, _, _, other in found if edits == best))[:NEIGHBOURS]


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
