"""Numbers handled with care: similarity that never leaves its bounds, sums that do not drift. Pure."""

from __future__ import annotations

from math import hypot, isfinite
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def clamp(value: float, low: float = 0.0, high: float = 1.0) -> float:
    """Return ``value`` within ``[low, high]``; what is no number becomes ``low``."""
    return min(high, max(low, value)) if value == value else low  # noqa: PLR0124 - a test for NaN


def cosine(left: Sequence[float], right: Sequence[float]) -> float:
    """Return the cosine of two vectors, in [-1, 1], over the components that both have.

    ``Σ a·b / (|a|·|b|)``. 0 when a norm is 0, or so small that its square is; 0 when a component is no finite number.
    Clamped: rounding makes quotients above 1.
    """
    size = min(len(left), len(right))
    one, other = left[:size], right[:size]
    lengths = hypot(*one), hypot(*other)
    if not all(map(isfinite, lengths)) or 0.0 in (lengths[0] * lengths[0], lengths[1] * lengths[1]):
        return 0.0
    return clamp(sum((a / lengths[0]) * (b / lengths[1]) for a, b in zip(one, other, strict=True)), -1.0, 1.0)


def distance(left: Sequence[float], right: Sequence[float]) -> float:
    """Return ``1 - cosine``, in [0, 2]."""
    return 1.0 - cosine(left, right)


def compensated_sum(values: Iterable[float]) -> float:
    """Return a sum by Neumaier's method: weights that make one add up to exactly one."""
    total = lost = 0.0
    for value in values:
        after = total + value
        lost += (total - after) + value if abs(total) >= abs(value) else (value - after) + total
        total = after
    return total + lost
