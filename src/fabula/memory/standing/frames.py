"""The slot that a claim fills: "the owner of ledger-db is" of "The owner of ledger-db is Ana." Pure.

Two claims with the same key may give the same slot two values: a conflict to be shown, never to be decided here. The
linking words are English; a claim in another language has no key.
"""

from __future__ import annotations

from typing import Final

from fabula.memory.standing.constants import FRAME_LEAST_WORDS, FRAME_VALUE_MOST_WORDS

LINKING: Final = frozenset(("of", "is", "in", "to", "by", "as"))


def frame_key(claim: str) -> str | None:
    """Return everything up to and including the last linking word, in lower case; ``None``: the claim has no frame.

    The frame needs three words or more, what follows it one to six, without its last period; an earlier linking word
    is not tried. Linear.
    """
    words = claim.split()
    if words:
        words[-1] = words[-1].removesuffix(".") or words[-1]
    last = next((at for at in range(len(words) - 2, -1, -1) if words[at] in LINKING), None)
    if last is None or last + 1 < FRAME_LEAST_WORDS:
        return None
    if len(words) - last - 1 > FRAME_VALUE_MOST_WORDS:
        return None
    return " ".join(words[: last + 1]).lower()
