"""Confidence as it is now. It decays when it is read, never by rewriting files. Pure.

All arithmetic is on a grid of whole numbers (10,000 parts of one), so every machine computes the same.
"""

from __future__ import annotations

from functools import lru_cache
from math import floor, log
from typing import Final

from fabula.memory.standing.constants import (
    CONFIDENCE_ALPHA,
    CONFIDENCE_FLOOR,
    GRID,
    MATERIAL_CHANGE,
    OUTCOME_ALPHA,
)
from fabula.memory.standing.numbers import clamp
from fabula.memory.standing.types import rule_of

DAY_MS: Final = 86_400_000
#: Steps after which the distance to the floor has halved: ``ln 2 / -ln(1 - α)``, about 6.6.
STEPS_PER_HALF_LIFE: Final = log(2) / -log(1 - CONFIDENCE_ALPHA)


def to_grid(value: float) -> int:
    """Return a value on the grid: ``round(value · 10⁴)``."""
    return round(value * GRID)


def step(alpha: float, previous: int, signal: int) -> int:
    """Return one step of a moving average: ``floor((α·signal + (10⁴ - α)·previous) / 10⁴)``, all on the grid.

    Lies between ``previous`` and ``signal``.
    """
    share = to_grid(alpha)
    return (share * signal + (GRID - share) * previous) // GRID


def outcome_after(previous: float, signal: float) -> float:
    """Return the score of outcomes after one more, in [-1, 1]: :func:`step` with α = 0.3."""
    return clamp(step(OUTCOME_ALPHA, to_grid(previous), to_grid(signal)) / GRID, -1.0, 1.0)


def decayed(confidence: float, steps: int) -> float:
    """Return a confidence after so many steps of ``min(previous, step(0.1, previous, 0.2))``.

    It never rises and never crosses the floor; below the floor it stays. No steps, or fewer, change nothing.
    """
    before = to_grid(clamp(confidence))
    now = _fallen(before, steps)
    return now / GRID if now != before else confidence


@lru_cache(maxsize=4096)  # the confidences of a corpus are few
def _fallen(now: int, steps: int) -> int:
    bottom = to_grid(CONFIDENCE_FLOOR)
    for _ in range(steps):
        after = min(now, step(CONFIDENCE_ALPHA, now, bottom))
        if after == now:
            break  # nothing more will change
        now = after
    return now


def confidence_now(confidence: float, memory_type: str, confirmed_at: int, now: int) -> float:
    """Return the confidence in a memory at ``now``; ``confirmed_at`` is when it was last written or reinforced (ms).

    :func:`decayed` by ``floor(days · 6.6 / half-life)`` steps, so that after the half-life of its type half of the way
    to the floor is gone (memhtml took one step a night for every type alike, and wrote each into the file). A type
    that never ages, or is protected, keeps its confidence.4 item 10.
    """
    rule = rule_of(memory_type)
    if rule.half_life is None or rule.protected or now <= confirmed_at:
        return confidence
    days = (now - confirmed_at) / DAY_MS
    return decayed(confidence, floor(days * STEPS_PER_HALF_LIFE / rule.half_life))


def is_material(before: float, after: float) -> bool:
    """Say whether two confidences differ by 0.005 or more, on the grid: what is worth showing. Symmetric."""
    return abs(to_grid(before) - to_grid(after)) >= to_grid(MATERIAL_CHANGE)
