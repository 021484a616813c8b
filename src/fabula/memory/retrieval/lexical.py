"""The full-text arm: which memories hold which words of a question, and BM25 of those that hold the most."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Final

from fabula.kernel.values import define, field
from fabula.memory.index.schema import ARCHIVED_TEXT, LIVE_TEXT, TEXT_COLUMNS
from fabula.memory.retrieval.parting import as_bits, parted, rows_in
from fabula.search.holders import Held, rarity, units_of
from fabula.search.terms import any_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

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
SHORT: Final = 10  # units of a question that is parted by bits; of more, most are rare: their rows are gone through
REMEMBERED: Final = 200_000  # rows in the lists of words that were asked for before, of one table
REMEMBERED_BITS: Final = 1_000  # words whose rows are remembered as bits
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


@define
class _Parts:
    """Rows by which units they hold: how many hold just these, and which. ``counts``: of each term, in every scope."""

    counts: list[int]
    sizes: dict[int, int]
    held: Mapping[int, int | list[int]]  # kind to rows, as bits or one by one

    def rows(self, kind: int) -> Iterable[int]:
        """Return the rows of a kind."""
        rows = self.held[kind]
        return rows_in(rows) if isinstance(rows, int) else rows


class LexicalArm:
    """Asks the full text through one connection."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection
        self._lists: dict[str, dict[str, list[int]]] = {}  # by table and expression
        self._bits: dict[tuple[str, str], int] = {}  # the same lists as bits, where they were asked for
        self._among: tuple[frozenset[int], int] = (frozenset(), 0)  # the scope that was asked last, as bits
        self._number = 0  # memories of every scope

    def forget(self) -> None:
        """Begin anew: the index has changed."""
        (number,) = self._connection.execute("select count(*) from files").fetchone() or (0,)
        self._lists, self._number = {LIVE_TEXT: {}, ARCHIVED_TEXT: {}}, int(number)
        self._bits.clear()

    def ask(self, question: Question, allowed: frozenset[int], *, archived: bool, enough: int = 10) -> Lexical:
        """Rank the allowed memories. A phrase must be held; what holds an excluded word is left out."""
        terms = question.terms
        units = units_of([term.parts for term in terms])
        tables = (LIVE_TEXT, ARCHIVED_TEXT) if archived else (LIVE_TEXT,)
        excluded = {row for term in question.excluded for table in tables for row in self._rows(table, term.whole)}
        expressions = [term.whole for term in terms] + [part for term in terms for part in term.parts]
        if len(expressions) <= SHORT:
            parts = self._parted(tables, terms, expressions, allowed, excluded)
        else:
            held = [self._listed(table, terms, units) for table in tables]
            parts = _gone_through(held, terms, allowed, excluded)
        found = Lexical(tuple(rarity(count, self._number) for count in parts.counts), excluded=excluded)
        shares = {kind: share_of(kind, found.weights, units) for kind in parts.sizes}
        found.number, found.best = sum(parts.sizes.values()), max(shares.values(), default=0.0)
        chosen = _strongest(parts.sizes, shares, enough)
        found.coverage = {row: shares[kind] for kind in chosen for row in parts.rows(kind)}
        rows = json.dumps(list(found.coverage))
        for table in tables if found.coverage else ():
            found.scores.update(self._ranked(table, _telling(terms, found.weights, parts.counts), rows))
        return found

    def _parted(
        self,
        tables: Sequence[str],
        terms: Sequence[Term],
        expressions: Sequence[str],
        allowed: frozenset[int],
        excluded: set[int],
    ) -> _Parts:
        """Part the rows of a short question by bits. ``expressions``: of its units, the terms' first."""
        held = [self._holders(tables, expression) for expression in expressions]
        if self._among[0] is not allowed:
            self._among = allowed, as_bits(allowed)
        among = self._among[1] & ~as_bits(excluded)
        for unit, term in enumerate(terms):
            if term.required:
                among &= held[unit]
        parts = parted(held, among)
        sizes = {kind: rows.bit_count() for kind, rows in parts.items()}
        return _Parts([rows.bit_count() for rows in held[: len(terms)]], sizes, parts)

    def _holders(self, tables: Sequence[str], expression: str) -> int:
        """Return the rows that hold an expression, as bits."""
        holders = 0
        for table in tables:
            key = table, expression
            if key not in self._bits:
                held = Held(self._connection, table, LISTED)
                held.add(0, expression)
                if len(self._bits) >= REMEMBERED_BITS:
                    self._bits.clear()
                self._bits[key] = as_bits(held.bits)
            holders |= self._bits[key]
        return holders

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


def _gone_through(held: Sequence[Held], terms: Sequence[Term], allowed: frozenset[int], excluded: set[int]) -> _Parts:
    """Part the rows of a long question one by one."""
    required = sum(1 << unit for unit, term in enumerate(terms) if term.required)
    parts: dict[int, list[int]] = {}
    for row, kind in _within(held, allowed, excluded, required).items():
        parts.setdefault(kind, []).append(row)
    return _Parts(_counts(held, len(terms)), {kind: len(rows) for kind, rows in parts.items()}, parts)


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


def _strongest(classes: Mapping[int, int], shares: Mapping[int, float], enough: int) -> set[int]:
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
