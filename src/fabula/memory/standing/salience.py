"""How much a memory stands out by its use alone. Pure."""

from __future__ import annotations

from math import log

from fabula.memory.standing.numbers import clamp
from fabula.memory.standing.reprieve import fading

_HOUR_MS = 3_600_000
PEOPLE = "resources/people/"


def salience(accesses: int, outcome: float, last_access: int, now: int) -> float:
    """``exp(-0.01 · hours since the last reading) + ln(1 + accesses) + max(outcome, 0)``.

    ``last_access`` (ms): the last reading, else when the content changed. ``now`` is handed in: the same question at
    the same time gives the same order.
    """
    return fading((now - last_access) / _HOUR_MS) + log(1 + max(0, accesses)) + clamp(outcome, 0.0, 1.0)


def has_salience(memory_type: str, path: str) -> bool:
    """Say whether a memory takes part: tasks and people's own pages do not stand out by being opened."""
    return memory_type != "task" and not path.startswith(PEOPLE)
