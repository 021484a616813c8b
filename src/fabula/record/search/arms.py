"""What the text index says about a query: scores of passages and threads, and which terms each of them holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.kernel.values import define, field, frozen
from fabula.record.map.schema import PASSAGE_COLUMNS, THREAD_COLUMNS
from fabula.record.search.rank import PARTS_SHARE
from fabula.search.holders import Held, rarity, units_of
from fabula.search.terms import any_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    import apsw

    from fabula.record.search.scope import Scope
    from fabula.search.terms import Term

PASSAGES_KEPT = 300
THREADS_KEPT = 150
THREADS_CHOSEN = 300  # ranked by BM25 at least, where more match
#: A term in more passages than this share of them is left out of the passage query when rarer ones carry at least
#: ``TELLING`` of the query's weight: it costs most of the time and moves few ranks. Where threads are looked for, whose
#: prose is asked for every term, passages may do with less, as soon as ``MANY`` hold some term.
COMMON, TELLING = 0.3, 0.7
COMMON_OF_MANY, TELLING_OF_MANY = 0.1, 0.5
MANY = 1_000
HELD_BY_PASSAGES = 1_000  # terms in more passages are looked up in prose alone
LISTED = 4_000  # rows of prose that are listed for a term
#: A term that more threads than this say, and that carries less than this share of a query, is taken as held by all.
HELD_BY_ALL, SLIGHT = 2_000, 0.08

_AMONG = "+f.rowid in (select value from json_each(?))"  # by plus not an access path: FTS5 would seek row by row

_PASSAGE_WEIGHTS = ",".join(str(weight) for _, weight in PASSAGE_COLUMNS)
_THREAD_WEIGHTS = ",".join(str(weight) for _, weight in THREAD_COLUMNS)


@frozen
class PassageHit:
    """A passage that matched: its score (BM25, higher is better) and where it lies."""

    id: int
    thread: int
    first_record: int
    last_record: int
    score: float


@define
class TermStatistics:
    """How common a term is, and how much that weighs in coverage."""

    unit: int  # its number in the query
    term: Term
    threads: int  # parts of threads whose prose holds the whole term
    passages: int
    weight: float

    @property
    def is_unknown(self) -> bool:
        """Whether nothing in the record holds the term as a whole."""
        return not (self.threads or self.passages)


@define
class Arms:
    """Everything the index said about one query. ``units`` has the numbers of each term's parts."""

    in_passages: Held
    in_threads: Held
    units: list[list[int]] = field(default_factory=list)
    statistics: list[TermStatistics] = field(default_factory=list)
    passages: list[PassageHit] = field(default_factory=list)  # best first
    threads: dict[int, float] = field(default_factory=dict)  # BM25 of prose by thread


class TextArms:
    """Asks the text index through one connection."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection

    def listed(self, terms: Sequence[Term], scope: Scope) -> Arms:
        """Count and list where each term occurs. Counts are of every project: rarity is a property of the language."""
        arms = Arms(
            Held(self._connection, "passages_fts", HELD_BY_PASSAGES),
            Held(self._connection, "threads_fts", LISTED),
        )
        arms.units = units_of([term.parts for term in terms])
        number = self.size("thread_parts")
        for unit, term in enumerate(terms):
            threads = self._list(arms.in_threads, unit, term.whole, scope, prose=True)
            passages = self._list(arms.in_passages, unit, term.whole, scope, prose=False)
            for part, expression in zip(arms.units[unit], term.parts, strict=True):
                arms.in_threads.add(part, scope.listed(expression, prose=True))
            arms.statistics.append(TermStatistics(unit, term, threads, passages, rarity(threads, number)))
        return arms

    def score(self, arms: Arms, scope: Scope, *, thorough: bool) -> None:
        """Score passages and threads for the terms that were listed, of which there is at least one.

        ``thorough`` where passages are what is looked for: more of the common terms are asked of them.
        """
        terms = [one.term for one in arms.statistics]
        required = [term.whole for term in terms if term.required]
        arms.passages = self._passages(self._telling(arms, scope, thorough=thorough), required, scope)
        arms.threads = self._threads(arms, terms, required, scope)
        if scope.needs_passage:
            held = {hit.thread for hit in arms.passages}
            arms.threads = {thread: score for thread, score in arms.threads.items() if thread in held}

    def _list(self, held: Held, unit: int, expression: str, scope: Scope, *, prose: bool) -> int:
        """List the rows of a term inside of the scope; return how many there are in every scope."""
        within = scope.listed(expression, prose=prose)
        number = held.add(unit, within)
        return number if number is not None and within == expression else held.count(expression)

    def size(self, table: str) -> int:
        """Return about how many rows a table has, in constant time."""
        (last,) = self._connection.execute(f"select max(rowid) from {table}").fetchone() or (0,)
        return int(last or 0)

    def _telling(self, arms: Arms, scope: Scope, *, thorough: bool) -> list[str]:
        """Choose the expressions that the passage query needs: see :data:`COMMON`."""
        parts = {} if thorough else self._common_parts(arms, scope)
        unlisted = [one.passages for one in arms.statistics if not arms.in_passages.listed >> one.unit & 1]
        thorough = thorough or len(arms.in_passages.bits) + sum(unlisted) + sum(parts.values()) < MANY
        common, telling = (COMMON, TELLING) if thorough else (COMMON_OF_MANY, TELLING_OF_MANY)
        limit = common * self.size("passages")
        enough = telling * sum(one.weight for one in arms.statistics)
        chosen: list[str] = []
        weight = 0.0
        for one in sorted(arms.statistics, key=lambda one: one.passages):
            if chosen and one.passages > limit and weight >= enough and not one.term.required:
                continue
            chosen += one.term.forms
            weight += one.weight
            chosen += [part for part in one.term.parts if thorough or parts.get(part, 0) <= limit]
        return chosen

    def _common_parts(self, arms: Arms, scope: Scope) -> dict[str, int]:
        """Count the passages with parts of names that are known: they tell as little as common words."""
        known = [part for one in arms.statistics if one.passages for part in one.term.parts]
        return {part: arms.in_passages.count(scope.listed(part, prose=False)) for part in known}

    def _passages(self, telling: Sequence[str], required: Sequence[str], scope: Scope) -> list[PassageHit]:
        condition, values = scope.condition("p.thread_id", "p")
        match = scope.match(_body(telling, required), prose=False)
        narrow = f" join passages p on p.id = f.rowid where {condition} and" if condition != "1" else " where"
        statement = (
            "select p.id, p.thread_id, p.first_record, p.last_record, best.score from"
            f" (select f.rowid as id, bm25(passages_fts,{_PASSAGE_WEIGHTS}) as score from passages_fts f{narrow}"
            f" passages_fts match ? order by score, f.rowid limit {PASSAGES_KEPT}) best"
            " join passages p on p.id = best.id order by best.score, p.id"
        )
        found = self._connection.execute(statement, (*values, match))
        return [PassageHit(key, thread, first, last, -score) for key, thread, first, last, score in found]

    def around(self, hits: Sequence[PassageHit]) -> list[PassageHit]:
        """Return the passages up to two away from ``hits`` in their threads that matched nothing themselves."""
        thread_of = {hit.id: hit.thread for hit in hits}
        near = sorted({hit.id + step for hit in hits for step in (-2, -1, 1, 2)} - set(thread_of))
        rows = self._connection.execute(
            "select id, thread_id, first_record, last_record from passages"
            " where id in (select value from json_each(?))",
            (str(near),),
        )
        found = [PassageHit(key, thread, first, last, 0.0) for key, thread, first, last in rows]
        return [one for one in found if any(thread_of.get(one.id + step) == one.thread for step in (-2, -1, 1, 2))]

    def _threads(self, arms: Arms, terms: Sequence[Term], required: Sequence[str], scope: Scope) -> dict[int, float]:
        condition, values = scope.condition("p.thread_id")
        said = [expression for term in terms for expression in (*term.forms, *term.parts)]
        match = scope.match(_body(said, required), prose=True)
        statement = (
            f"select p.thread_id, -bm25(threads_fts,{_THREAD_WEIGHTS}) as score from threads_fts f"
            f" join thread_parts p on p.id = f.rowid where threads_fts match ? and {condition}"
            f" order by score desc, f.rowid limit {THREADS_KEPT}"
        )
        if not scope.threads:
            narrow = ""
            chosen = None
            if scope.told_by_index and not required:
                chosen = arms.in_threads.strongest(_weights(arms, arms.statistics), THREADS_CHOSEN)
            if chosen is not None:
                narrow, values = f" and {_AMONG}", [str(chosen), *values]
            statement = (
                f"select p.thread_id, -best.score from (select f.rowid as id, bm25(threads_fts,{_THREAD_WEIGHTS})"
                f" as score from threads_fts f where threads_fts match ?{narrow}"
                f" order by score, f.rowid limit {THREADS_KEPT}) best"
                f" join thread_parts p on p.id = best.id where {condition}"
            )
        scores: dict[int, float] = {}
        for thread, score in self._connection.execute(statement, (match, *values)):
            if score > scores.get(thread, float("-inf")):
                scores[thread] = score
        return scores

    # ── which terms a thread holds ───────────────────────────────────

    def coverage(self, arms: Arms, threads: Collection[int]) -> dict[int, float]:
        """Return the share (0 to 1) of the query's weight that each thread holds; parts of a term count less.

        A thread holds what its prose says, and what those of its passages hold that matched best.
        """
        part_of = self._parts_of(threads)
        bits = dict.fromkeys(threads, 0)
        prose, passages = arms.in_threads.bits.get, arms.in_passages.bits.get
        for part, thread in part_of.items():
            bits[thread] |= prose(part, 0)
        for hit in arms.passages:
            if hit.thread in bits:
                bits[hit.thread] |= passages(hit.id, 0)
        for one in arms.statistics:
            self._add_common(arms, one, part_of, bits)
        shares = {held: _share(arms, held) for held in set(bits.values())}
        return {thread: shares[held] for thread, held in bits.items()}

    def _add_common(self, arms: Arms, one: TermStatistics, part_of: dict[int, int], bits: dict[int, int]) -> None:
        """Set the bits of a term, and of its parts, that too many texts hold to be listed."""
        held = arms.in_threads
        whole = sum(each.weight for each in arms.statistics) or 1.0
        for unit, expression in ((one.unit, one.term.whole), *zip(arms.units[one.unit], one.term.parts, strict=True)):
            if unit == one.unit and one.threads > HELD_BY_ALL and one.weight / whole < SLIGHT:
                for thread in bits:
                    bits[thread] |= 1 << unit
            elif not held.listed >> unit & 1:
                for part in held.rows(expression) & part_of.keys():
                    bits[part_of[part]] |= 1 << unit

    def _parts_of(self, threads: Collection[int]) -> dict[int, int]:
        rows = self._connection.execute(
            "select id, thread_id from thread_parts where thread_id in (select value from json_each(?))",
            (str(list(threads)),),
        )
        return dict(rows)


def _share(arms: Arms, held: int) -> float:
    """Return the share of the query's weight that these bits hold."""
    whole = sum(one.weight for one in arms.statistics) or 1.0
    share = 0.0
    for one in arms.statistics:
        parts = arms.units[one.unit]
        if held >> one.unit & 1:
            share += one.weight / whole
        elif parts:
            share += one.weight / whole * PARTS_SHARE * sum(held >> part & 1 for part in parts) / len(parts)
    return share


def reach(arms: Arms, passage: int) -> float:
    """Return the share of the query's weight that a passage says at most.

    What is not known counts as said, and so do names of several parts: a passage may hold parts of them.
    """
    held = arms.in_passages.bits.get(passage, 0) | ~arms.in_passages.listed
    whole = sum(one.weight for one in arms.statistics) or 1.0
    return sum(one.weight for one in arms.statistics if one.term.parts or held >> one.unit & 1) / whole


def _weights(arms: Arms, statistics: Sequence[TermStatistics]) -> dict[int, float]:
    """Return what each unit of these terms weighs when rows are chosen: all parts of a name as much as its share."""
    weights: dict[int, float] = {}
    for one in statistics:
        weights[one.unit] = one.weight
        for part in arms.units[one.unit]:
            weights[part] = one.weight * PARTS_SHARE / len(arms.units[one.unit])
    return weights


def _body(expressions: Iterable[str], required: Sequence[str]) -> str:
    body = any_of(expressions)
    return " AND ".join([*required, body]) if required else body
