"""Parting memories by which units of a question they hold. Pure.

The rows of a unit are one whole number in which bit n stands for row n: of a few units, parting by such
numbers costs a twentieth of going through the rows or less; of twenty, more (see docs/decisions.md).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence


def as_bits(rows: Iterable[int]) -> int:
    """Return the number whose bits are these rows (0 or more)."""
    listed = list(rows)
    if not listed:
        return 0
    digits = bytearray(b"0") * (max(listed) + 1)
    for row in listed:
        digits[-1 - row] = 49  # "1"
    return int(digits, 2)


def rows_in(bits: int) -> Iterator[int]:
    """Yield the rows whose bits are set, the smallest first."""
    digits = bin(bits)[:1:-1]
    at = digits.find("1")
    while at >= 0:
        yield at
        at = digits.find("1", at + 1)


def parted(units: Sequence[int], among: int) -> dict[int, int]:
    """Part rows by what they hold: which units (bit n: unit number n) to the rows that hold these and no others.

    Rows that hold nothing are in none.
    """
    parts: dict[int, int] = {0: among} if among else {}
    for unit, held in enumerate(units):
        following: dict[int, int] = {}
        for kind, rows in parts.items():
            inside = rows & held
            if inside:
                following[kind | 1 << unit] = inside
            if inside != rows:
                following[kind] = rows ^ inside
        parts = following
    parts.pop(0, None)
    return parts
