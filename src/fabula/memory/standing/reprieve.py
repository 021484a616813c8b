"""Whether a memory whose time is up gets more of it. Pure."""

from __future__ import annotations

from math import exp, log

from fabula.memory.standing import constants
from fabula.memory.standing.numbers import clamp


def fading(hours: float) -> float:
    """``exp(-0.01 · hours)``: what is left of a reading so long ago; 1 for what lies ahead."""
    return exp(-constants.FADING_PER_HOUR * max(0.0, hours))


def reprieve_score(importance: int, accesses: int, outcome: float, hours_since_access: float) -> float:
    """``0.4 · importance/10 + 0.3 · ln(1 + accesses) + 0.2 · max(0, outcome) + 0.1 · exp(-0.01 · hours)``.

    ``importance`` 1 to 10, ``outcome`` -1 to 1; hours since the last reading, or since the content changed when there
    was none. Above 0; grows with accesses without bound.
    """
    weight = clamp(importance, constants.IMPORTANCE_LEAST, constants.IMPORTANCE_MOST) / constants.IMPORTANCE_MOST
    return (
        0.4 * weight
        + 0.3 * log(1 + max(0, accesses))
        + 0.2 * clamp(outcome, 0.0, 1.0)
        + 0.1 * fading(hours_since_access)
    )


def is_reprieved(value: float, reprieves: int, most: int = constants.REPRIEVES_MOST) -> bool:
    """Say whether a score of 0.5 or more buys fourteen more days; at most three times (``most`` 0: never)."""
    return value >= constants.REPRIEVE_FROM and reprieves < most
