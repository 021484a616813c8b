"""The full-text arm: which memories hold which words of a question, and BM25 of those that hold the most."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Final

from fabula.kernel.values import define, field
from fabula.memory.index.schema import ARCHIVED_TEXT, LIVE_TEXT, TEXT_COLUMNS
from fabula.search.holders import Held, rarity, units_of
from fabula.search.terms import any_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import apsw

    from fabula.memory.retrieval.question import Question
    from fabula.search.terms import Term

PARTS_SHARE: Final = 0.6  # what the parts of a name count, against the name itself
RANKED: Final = 60  # memories ranked by BM25 at least, where more match
#: Once as many are in as are shown, a crowd that holds less and would make them more than so many is left out.
CROWD: Final = 300
LISTED: Final = 1_000_000  # rows that are listed for a term: all
#: A term that more than ``FEW`` memories hold is left out of BM25 when rarer ones carry this share of the weight: to
#: rank by it costs most of the time and moves few places. Coverage counts it all the same.
TELLING: Final = 0.7
FEW: Final = 1_000
REMEMBERED: Final = 200_000  # rows in the lists of words that were asked for before, of one table
_WEIGHTS = ",".join(str(weight) for _, weight in TEXT_COLUMNS)


@define
class Lexical:
    """What the words say of the best candidates: BM25 (higher is better), and coverage (0 to 1).

    ``best`` is the largest coverage of all; ``weights`` are those of the terms; ``excluded`` hold a word that must not
    be there; ``number`` counts the memories that hold anything.
    """

    weights: tuple[float, ...] = ()
    scores: dict[int, float] = field(default_factory=dict)
    coverage: dict[int, float] = field(default_factory=dict)
    best: float = 0.0
    excluded: set[int] = field(default_factory=set)
    number: int = 0


class LexicalArm:
    """Asks the full text through one connection."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection
        self._lists: dict[str, dict[str, list[int]]] = {}  # by table and expression
        self._number = 0  # memories of every scope

    def forget(self) -> None:
        """Begin anew: the index has changed."""
        (number,) = self._connection.execute("select count(*) from files").fetchone() or (0,)
        self._lists, self._number = {LIVE_TEXT: {}, ARCHIVED_TEXT: {}}, int(number)

    def ask(self, question: Question, allowed: frozenset[int], *, archived: bool, enough: int = 10) -> Lexical:
        """Rank the allowed memories. A phrase must be held; what holds an excluded word is left out."""
        terms = question.terms
        units = units_of([term.parts for term in terms])
        tables = (LIVE_TEXT, ARCHIVED_TEXT) if archived else (LIVE_TEXT,)
        held = [self._listed(table, terms, units) for table in tables]
        counts = _counts(held, len(terms))
        found = Lexical(tuple(rarity(count, self._number) for count in counts))
        found.excluded = {
            row for term in question.excluded for table in tables for row in self._rows(table, term.whole)
        }
        required = sum(1 << unit for unit, term in enumerate(terms) if term.required)
        bits = _within(held, allowed, found.excluded, required)
        classes = Counter(bits.values())
        shares = {kind: share_of(kind, found.weights, units) for kind in classes}
        found.number, found.best = len(bits), max(shares.values(), default=0.0)
        chosen = _strongest(classes, shares, enough)
        found.coverage = {row: shares[kind] for row, kind in bits.items() if kind in chosen}
        rows = json.dumps(list(found.coverage))
        for table in tables if found.coverage else ():
            found.scores.update(self._ranked(table, _telling(terms, found.weights, counts), rows))
        return found

    def _listed(self, table: str, terms: Sequence[Term], units: Sequence[Sequence[int]]) -> Held:
        lists = self._lists[table]
        if sum(map(len, lists.values())) > REMEMBERED:
            lists.clear()
        held = Held(self._connection, table, LISTED, lists)
        for unit, term in enumerate(terms):
            held.add(unit, term.whole)
            for part, expression in zip(units[unit], term.parts, strict=True):
                held.add(part, expression)
        return held

    def _rows(self, table: str, expression: str) -> list[int]:
        found = self._connection.execute(f"select rowid from {table} where {table} match ?", (expression,))
        return [row for (row,) in found]

    def _ranked(self, table: str, terms: Sequence[Term], rows: str) -> dict[int, float]:
        """Return BM25 of some rows (their ids as JSON)."""
        match = any_of(expression for term in terms for expression in (*term.forms, *term.parts))
        statement = (
            f"select rowid, -bm25({table},{_WEIGHTS}) from {table} where {table} match ?"
            " and +rowid in (select value from json_each(?))"
        )
        return dict(self._connection.execute(statement, (match, rows)))


def _counts(held: Sequence[Held], number: int) -> list[int]:
    """Count the rows that hold each of the first units, in every scope."""
    counts = [0] * number
    for one in held:
        for kind, many in Counter(one.bits.values()).items():
            for unit in range(number):
                counts[unit] += many * (kind >> unit & 1)
    return counts


def _telling(terms: Sequence[Term], weights: Sequence[float], counts: Sequence[int]) -> list[Term]:
    """Return the terms that BM25 is asked about: the rarest, and all that few memories hold. See :data:`TELLING`."""
    enough = TELLING * sum(weights)
    chosen: list[Term] = []
    weight = 0.0
    for unit in sorted(range(len(terms)), key=lambda unit: counts[unit]):
        if chosen and counts[unit] > FEW and weight >= enough:
            break
        chosen.append(terms[unit])
        weight += weights[unit]
    return chosen


def _within(held: Sequence[Held], allowed: frozenset[int], excluded: set[int], required: int) -> dict[int, int]:
    """Return the bits of the rows that may be found."""
    bits: dict[int, int] = {}
    for one in held:
        bits.update(
            one.bits if one.bits.keys() <= allowed else {row: bit for row, bit in one.bits.items() if row in allowed}
        )
    if excluded or required:
        bits = {row: bit for row, bit in bits.items() if bit & required == required and row not in excluded}
    return bits


def _strongest(classes: Counter[int], shares: Mapping[int, float], enough: int) -> set[int]:
    """Choose the classes of rows that hold the most, until :data:`RANKED` rows are in.

    Rows of one class hold the same units and stand or fall together; one that would bring more than :data:`CROWD` is
    left out when enough rows hold more.
    """
    chosen: set[int] = set()
    number = 0
    for kind in sorted(classes, key=lambda kind: (-shares[kind], kind)):
        if number >= RANKED or (number >= enough and number + classes[kind] > CROWD):
            break
        chosen.add(kind)
        number += classes[kind]
    return chosen


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
