"""What the text index says about a query: scores of passages and threads, and which terms each of them holds."""

from __future__ import annotations

from math import log, sqrt
from typing import TYPE_CHECKING

from fabula.kernel.values import define, field, frozen
from fabula.record.map.schema import PASSAGE_COLUMNS, THREAD_COLUMNS
from fabula.search.terms import any_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    import apsw

    from fabula.record.search.scope import Scope
    from fabula.search.terms import Term

PASSAGES_KEPT = 300
THREADS_KEPT = 150
#: A term in more passages than this share of them is left out of the passage query when rarer terms carry at least
#: ``TELLING`` of the query's weight: it would cost most of the time and move no rank. Threads are asked for every term.
COMMON = 0.3
TELLING = 0.7
HELD_BY_PASSAGES = 1_000  # terms in more passages are looked up in prose alone
#: A term that more threads than this say, and that carries less than this share of a query, is taken as held by all.
HELD_BY_ALL, SLIGHT = 2_000, 0.08

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
    """Everything the index said about one query."""

    statistics: list[TermStatistics] = field(default_factory=list)
    passages: list[PassageHit] = field(default_factory=list)  # best first
    threads: dict[int, float] = field(default_factory=dict)  # BM25 of prose by thread


class TextArms:
    """Asks the text index through one connection."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection

    def ask(self, terms: Sequence[Term], scope: Scope) -> Arms:
        """Score passages and threads for a query of at least one term."""
        arms = Arms(self.statistics(terms))
        required = [term.whole for term in terms if term.required]
        arms.passages = self._passages(self._telling(arms.statistics), required, scope)
        arms.threads = self._threads(terms, required, scope)
        if scope.needs_passage:
            held = {hit.thread for hit in arms.passages}
            arms.threads = {thread: score for thread, score in arms.threads.items() if thread in held}
        return arms

    def statistics(self, terms: Sequence[Term]) -> list[TermStatistics]:
        """Count where each term occurs, in every project: rarity is a property of the language."""
        number = self.size("thread_parts")
        found = []
        for term in terms:
            threads, passages = self.count("threads_fts", term.whole), self.count("passages_fts", term.whole)
            found.append(TermStatistics(term, threads, passages, rarity(threads, number)))
        return found

    def size(self, table: str) -> int:
        """Return about how many rows a table has, in constant time."""
        (last,) = self._connection.execute(f"select max(rowid) from {table}").fetchone() or (0,)
        return int(last or 0)

    def count(self, table: str, expression: str) -> int:
        """Return how many texts match an expression."""
        (number,) = self._connection.execute(
            f"select count(*) from {table} where {table} match ?", (expression,)
        ).fetchone() or (0,)
        return int(number)

    def _telling(self, statistics: Sequence[TermStatistics]) -> list[Term]:
        """Choose the terms that the passage query needs: see :data:`COMMON`."""
        limit = COMMON * self.size("passages")
        enough = TELLING * sum(one.weight for one in statistics)
        chosen: list[Term] = []
        weight = 0.0
        for one in sorted(statistics, key=lambda one: one.passages):
            if chosen and one.passages > limit and weight >= enough and not one.term.required:
                continue
            chosen.append(one.term)
            weight += one.weight
        return chosen

    def _passages(self, terms: Sequence[Term], required: Sequence[str], scope: Scope) -> list[PassageHit]:
        condition, values = scope.condition("p.thread_id", "p")
        narrow = f" join passages p on p.id = f.rowid where {condition} and" if condition != "1" else " where"
        statement = (
            "select p.id, p.thread_id, p.first_record, p.last_record, best.score from"
            f" (select f.rowid as id, bm25(passages_fts,{_PASSAGE_WEIGHTS}) as score from passages_fts f{narrow}"
            f" passages_fts match ? order by score, f.rowid limit {PASSAGES_KEPT}) best"
            " join passages p on p.id = best.id order by best.score, p.id"
        )
        match = scope.match(_body(terms, required), prose=False)
        found = self._connection.execute(statement, (*values, match))
        return [PassageHit(key, thread, first, last, -score) for key, thread, first, last, score in found]

    def around(self, hits: Sequence[PassageHit]) -> list[PassageHit]:
        """Return the passages up to two away from ``hits`` in their threads that matched nothing themselves."""
        thread_of = {hit.id: hit.thread for hit in hits}
        near = sorted({hit.id + step for hit in hits for step in (-2, -1, 1, 2)} - set(thread_of))
        marks = ",".join("?" * len(near))
        rows = self._connection.execute(
            f"select id, thread_id, first_record, last_record from passages where id in ({marks})", tuple(near)
        )
        found = [PassageHit(key, thread, first, last, 0.0) for key, thread, first, last in rows]
        return [one for one in found if any(thread_of.get(one.id + step) == one.thread for step in (-2, -1, 1, 2))]

    def _threads(self, terms: Sequence[Term], required: Sequence[str], scope: Scope) -> dict[int, float]:
        condition, values = scope.condition("p.thread_id")
        statement = (
            f"select p.thread_id, -f.score from (select rowid as id, bm25(threads_fts,{_THREAD_WEIGHTS}) as score"
            f" from threads_fts where threads_fts match ? order by score, rowid limit {THREADS_KEPT}) f"
            f" join thread_parts p on p.id = f.id where {condition}"
        )
        if scope.threads:
            statement = (
                f"select p.thread_id, -bm25(threads_fts,{_THREAD_WEIGHTS}) as score from threads_fts f"
                f" join thread_parts p on p.id = f.rowid where threads_fts match ? and {condition}"
                f" order by score desc, f.rowid limit {THREADS_KEPT}"
            )
        scores: dict[int, float] = {}
        match = scope.match(_body(terms, required), prose=True)
        for thread, score in self._connection.execute(statement, (match, *values)):
            if score > scores.get(thread, float("-inf")):
                scores[thread] = score
        return scores

    # ── which terms a thread holds ───────────────────────────────────

    def coverage(self, arms: Arms, threads: Collection[int], parts_share: float) -> dict[int, float]:
        """Return the share (0 to 1) of the query's weight that each thread holds; parts of a term count less.

        A thread holds what its prose says, and what those of its passages hold that matched best.
        """
        part_of = self._parts_of(threads)
        passage_of = {hit.id: hit.thread for hit in arms.passages}
        whole = sum(one.weight for one in arms.statistics) or 1.0
        held: dict[int, float] = dict.fromkeys(threads, 0.0)
        for one in arms.statistics:
            share = one.weight / whole
            if one.threads > HELD_BY_ALL and share < SLIGHT:
                full = set(threads)
            else:
                full = self._holders("threads_fts", one.term.whole, part_of)
                if one.passages <= HELD_BY_PASSAGES:
                    full |= self._holders("passages_fts", one.term.whole, passage_of).intersection(held)
            for thread in full:
                held[thread] += share
            for thread, number in self._holders_of_parts(one.term, part_of, full).items():
                held[thread] += share * parts_share * number / len(one.term.parts)
        return held

    def _holders_of_parts(self, term: Term, part_of: dict[int, int], full: set[int]) -> dict[int, int]:
        """Count the parts of a term that threads hold which do not hold the whole."""
        found: dict[int, int] = {}
        for part in term.parts:
            for thread in self._holders("threads_fts", part, part_of) - full:
                found[thread] = found.get(thread, 0) + 1
        return found

    def _holders(self, table: str, expression: str, thread_of: dict[int, int]) -> set[int]:
        rows = self._connection.execute(f"select rowid from {table} where {table} match ?", (expression,))
        return {thread_of[row] for (row,) in rows if row in thread_of}

    def _parts_of(self, threads: Collection[int]) -> dict[int, int]:
        marks = ",".join("?" * len(threads))
        rows = self._connection.execute(
            f"select id, thread_id from thread_parts where thread_id in ({marks})", tuple(threads)
        )
        return {int(part): int(thread) for part, thread in rows}


def rarity(holders: int, number: int) -> float:
    """Return the weight of a term that ``holders`` of ``number`` texts hold: the root of its inverse frequency.

    The root, because a name that nobody says must not outweigh everything that is said.
    """
    return sqrt(log(1 + (max(number, holders) - holders + 0.5) / (holders + 0.5)))


def _body(terms: Iterable[Term], required: Sequence[str]) -> str:
    body = any_of(expression for term in terms for expression in (*term.forms, *term.parts))
    return " AND ".join([*required, body]) if required else body
