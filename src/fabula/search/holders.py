"""Which texts hold which units of a query: lists of rows, read once a query, kept as bits.

To read the list of a term costs a fifth of ranking its rows by BM25. So lists come first: they count, they tell
coverage, and they choose what is worth ranking. Records and memories are searched alike.
"""

from __future__ import annotations

import json
from collections import Counter
from math import log, sqrt
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import apsw


class Held:
    """The rows of one full-text table by what they hold of one query.

    A unit of more than ``most`` rows is not listed: it is counted, and asked again where it matters. ``bits`` has bit n
    where a row holds unit number n; ``listed`` has the bits of the units that are known row by row. ``remembered``
    keeps lists by expression for as long as whoever hands it in knows that the table does not change.
    """

    def __init__(
        self, connection: apsw.Connection, table: str, most: int, remembered: dict[str, list[int]] | None = None
    ) -> None:
        self._connection = connection
        self._remembered = remembered
        self._most = most
        # as one text: it is read three times as fast as a row a number
        self._list = f"select json_group_array(rowid) from (select rowid from {table} where {table} match ? limit ?)"
        self._all = f"select rowid from {table} where {table} match ?"
        self._count = f"select count(*) from {table} where {table} match ?"
        self.bits: dict[int, int] = {}
        self.listed = 0

    def add(self, unit: int, expression: str) -> int | None:
        """List the rows of an expression as those of a unit; return how many, ``None`` when they are too many."""
        rows = self._read(expression)
        if len(rows) > self._most:
            return None
        bit = 1 << unit
        self.listed |= bit
        bits = self.bits
        if not bits:
            self.bits = dict.fromkeys(rows, bit)
            return len(rows)
        held = bits.get
        for row in rows:
            bits[row] = held(row, 0) | bit
        return len(rows)

    def _read(self, expression: str) -> list[int]:
        known = self._remembered.get(expression) if self._remembered is not None else None
        if known is None:
            (text,) = self._connection.execute(self._list, (expression, self._most + 1)).fetchone() or ("[]",)
            known = json.loads(text)
            if self._remembered is not None:
                self._remembered[expression] = known
        return known

    def count(self, expression: str) -> int:
        """Return how many rows an expression matches."""
        (number,) = self._connection.execute(self._count, (expression,)).fetchone() or (0,)
        return int(number)

    def rows(self, expression: str) -> set[int]:
        """Return all rows that an expression matches, however many."""
        return {row for (row,) in self._connection.execute(self._all, (expression,))}

    def strongest(self, weights: Mapping[int, float], enough: int) -> list[int] | None:
        """Return the rows that hold the most of these units, by weight; ``None`` when ranking all costs no more.

        Rows that hold the same units stand or fall together, so at least ``enough`` come back and mostly somewhat more.
        """
        mask = sum(1 << unit for unit in weights) & self.listed
        kinds = Counter(bits & mask for bits in self.bits.values())
        del kinds[0]
        if kinds.total() <= enough:
            return None
        chosen: set[int] = set()
        number = 0
        for kind in sorted(kinds, key=lambda kind: (-weight_of(kind, weights), kind)):
            if number >= enough:
                return [row for row, bits in self.bits.items() if bits & mask in chosen]
            chosen.add(kind)
            number += kinds[kind]
        return None


def weight_of(bits: int, weights: Mapping[int, float]) -> float:
    """Return the sum of the weights of the units whose bits are set."""
    return sum(weight for unit, weight in weights.items() if bits >> unit & 1)


def units_of(parts: Sequence[Sequence[str]]) -> list[list[int]]:
    """Number the parts of terms: term n is unit n, parts have the numbers from there on, term by term."""
    numbers, following = [], len(parts)
    for one in parts:
        numbers.append(list(range(following, following + len(one))))
        following += len(one)
    return numbers


def rarity(holders: int, number: int) -> float:
    """Return the weight of a term that ``holders`` of ``number`` texts hold: the root of its inverse frequency.

    The root, because a name that nobody says must not outweigh everything that is said.
    """
    return sqrt(log(1 + (max(number, holders) - holders + 0.5) / (holders + 0.5)))
