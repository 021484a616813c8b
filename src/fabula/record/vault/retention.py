"""Which generations may go, by the settings of a person. Pure, and by default: none.

The settings only mark what ``vault gc`` may remove. Whatever they say, a generation stays that is the newest of its
file, that somebody holds (a pin, the last undo), or that has the last full copy of anything: see ``Sealed.holds``.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Literal

from fabula.kernel.values import frozen

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

DAY_MS = 86_400_000
Why = Literal["count", "age", "budget"]


@frozen
class Rules:
    """What is kept of superseded generations; 0 sets no rule.

    ``generations``: the newest so many of each file are kept. ``days``: what was superseded within so many days is
    kept. With both, what either keeps is kept. ``budget``: bytes; generations go, the longest superseded first, only
    while the vault is larger. Without any rule everything is kept.
    """

    generations: int = 0
    days: int = 0
    budget: int = 0

    def __bool__(self) -> bool:
        """Say whether there is any rule."""
        return bool(self.generations or self.days or self.budget)


@frozen
class Sealed:
    """A generation as retention sees it. ``superseded_at`` (ms) is ``None`` for the newest of its file.

    ``holds`` are the digests of all that is full in it: every record and every stretch between records, but no record
    that a pruner slimmed. ``frees`` estimates the bytes that go with it. ``held``: it stays whatever is set.
    """

    id: int
    source_id: int
    number: int
    superseded_at: int | None
    frees: int
    holds: frozenset[bytes]
    held: bool = False


@frozen
class Going:
    """A generation that may go, and by which rule."""

    id: int
    source_id: int
    number: int
    frees: int
    why: Why


def may_go(sealed: Sequence[Sealed], rules: Rules, now_ms: int, vault_bytes: int = 0) -> tuple[Going, ...]:
    """Return what may go, the longest superseded first. ``vault_bytes`` is what the vault weighs now."""
    if not rules:
        return ()
    copies = Counter(key for generation in sealed for key in generation.holds)
    excess = vault_bytes - rules.budget
    going: list[Going] = []
    for generation in sorted(_outside(sealed, rules, now_ms), key=lambda each: (each.superseded_at or 0, each.id)):
        if rules.budget and excess <= 0:
            break
        if any(copies[key] < 2 for key in generation.holds):
            continue
        copies.subtract(generation.holds)
        excess -= generation.frees
        why: Why = "budget" if rules.budget else "age" if rules.days else "count"
        going.append(Going(generation.id, generation.source_id, generation.number, generation.frees, why))
    return tuple(going)


def _outside(sealed: Iterable[Sealed], rules: Rules, now_ms: int) -> list[Sealed]:
    """Return the generations that no rule keeps."""
    found = []
    later: Counter[int] = Counter()  # of a file: generations that are newer than the one looked at
    for generation in sorted(sealed, key=lambda each: (each.source_id, each.id), reverse=True):
        newer = later[generation.source_id]
        later[generation.source_id] += 1
        superseded = generation.superseded_at
        if generation.held or superseded is None:
            continue
        among_newest = rules.generations and newer < rules.generations
        recent = rules.days and now_ms - superseded < rules.days * DAY_MS
        if not among_newest and not recent:
            found.append(generation)
    return found
