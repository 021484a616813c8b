"""The full-text arm: which memories hold which words of a question, and BM25 of those that hold the most."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from fabula.kernel.values import define, field
from fabula.memory.index.schema import ARCHIVED_TEXT, LIVE_TEXT, TEXT_COLUMNS
from fabula.search.holders import Held, rarity, units_of
from fabula.search.terms import any_of

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    import apsw

    from fabula.memory.retrieval.question import Question
    from fabula.search.terms import Term

PARTS_SHARE: Final = 0.6  # what the parts of a name count, against the name itself
RANKED: Final = 200  # memories ranked by BM25 at least, where more match
LISTED: Final = 1_000_000  # rows that are listed for a term: all
#: A term that more of the memories than this hold says little, and is left out of BM25 where others are left.
COMMON: Final = 0.5
_WEIGHTS = ",".join(str(weight) for _, weight in TEXT_COLUMNS)


@define
class Lexical:
    """What the words say: BM25 (higher is better) of the best candidates, coverage (0 to 1) of every one in scope.

    ``bits`` has bit n where a memory holds unit n; ``weights`` are those of the terms; ``excluded`` hold a word that
    must not be there.
    """

    terms: tuple[Term, ...] = ()
    weights: tuple[float, ...] = ()
    bits: dict[int, int] = field(default_factory=dict)
    scores: dict[int, float] = field(default_factory=dict)
    coverage: dict[int, float] = field(default_factory=dict)
    excluded: set[int] = field(default_factory=set)


class LexicalArm:
    """Asks the full text through one connection."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection

    def ask(self, question: Question, allowed: Collection[int], *, archived: bool) -> Lexical:
        """Rank the allowed memories. A phrase must be held; what holds an excluded word is left out."""
        terms = question.terms
        units = units_of([term.parts for term in terms])
        tables = (LIVE_TEXT, ARCHIVED_TEXT) if archived else (LIVE_TEXT,)
        held = [self._listed(table, terms, units) for table in tables]
        weights = self._weights(held, terms)
        bits: dict[int, int] = {}
        for one in held:
            bits.update((row, bit) for row, bit in one.bits.items() if row in allowed)
        excluded = {row for term in question.excluded for table in tables for row in self._rows(table, term.whole)}
        if excluded:
            bits = {row: bit for row, bit in bits.items() if row not in excluded}
        required = sum(1 << unit for unit, term in enumerate(terms) if term.required)
        if required:
            bits = {row: bit for row, bit in bits.items() if bit & required == required}
        shares = {kind: share_of(kind, weights, units) for kind in set(bits.values())}
        coverage = {row: shares[kind] for row, kind in bits.items()}
        best = _strongest(coverage, RANKED)
        scores: dict[int, float] = {}
        for table in tables if best else ():
            scores.update(self._ranked(table, terms, held, best))
        return Lexical(terms, weights, bits, scores, coverage, excluded)

    def _listed(self, table: str, terms: Sequence[Term], units: Sequence[Sequence[int]]) -> Held:
        held = Held(self._connection, table, LISTED)
        for unit, term in enumerate(terms):
            held.add(unit, term.whole)
            for part, expression in zip(units[unit], term.parts, strict=True):
                held.add(part, expression)
        return held

    def _weights(self, held: Sequence[Held], terms: Sequence[Term]) -> tuple[float, ...]:
        """Return what each term weighs by its rarity, over memories of every scope."""
        (number,) = self._connection.execute("select count(*) from files").fetchone() or (0,)
        counts = [0] * len(terms)
        for one in held:
            for kind, many in _kinds(one.bits.values()).items():
                for unit in range(len(terms)):
                    counts[unit] += many * (kind >> unit & 1)
        return tuple(rarity(count, int(number)) for count in counts)

    def _rows(self, table: str, expression: str) -> list[int]:
        return [
            row
            for (row,) in self._connection.execute(f"select rowid from {table} where {table} match ?", (expression,))
        ]

    def _ranked(self, table: str, terms: Sequence[Term], held: Sequence[Held], rows: Sequence[int]) -> dict[int, float]:
        """Return BM25 of some rows, over the terms that tell rows apart."""
        most = COMMON * max(1, sum(len(one.bits) for one in held))
        telling = [
            term
            for unit, term in enumerate(terms)
            if sum(bit >> unit & 1 for one in held for bit in one.bits.values()) <= most
        ]
        match = any_of(expression for term in telling or terms for expression in (*term.forms, *term.parts))
        statement = (
            f"select rowid, -bm25({table},{_WEIGHTS}) from {table} where {table} match ?"
            " and +rowid in (select value from json_each(?))"
        )
        return dict(self._connection.execute(statement, (match, json.dumps(rows))))


def share_of(bits: int, weights: Sequence[float], units: Sequence[Sequence[int]]) -> float:
    """Return the share of a question's weight that these bits hold: a name's parts count less than the name."""
    whole = sum(weights) or 1.0
    share = 0.0
    for unit, weight in enumerate(weights):
        parts = units[unit]
        if bits >> unit & 1:
            share += weight
        elif parts:
            share += weight * PARTS_SHARE * sum(bits >> part & 1 for part in parts) / len(parts)
    return share / whole


def _kinds(bits: Collection[int]) -> dict[int, int]:
    from collections import Counter

    return Counter(bits)


def _strongest(coverage: dict[int, float], enough: int) -> list[int]:
    """Return the rows that hold the most: those of one share stand or fall together, so mostly some more."""
    if len(coverage) <= enough:
        return sorted(coverage)
    floor = sorted(coverage.values(), reverse=True)[enough - 1]
    return sorted(row for row, share in coverage.items() if share >= floor)
