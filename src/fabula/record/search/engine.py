"""One search: words to terms, terms to arms, arms to an order. It reads the map alone, no record."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from fabula.kernel.values import define, field, frozen
from fabula.record.map.schema import TOKENIZER
from fabula.record.search.arms import THREADS_KEPT, Arms, PassageHit, TextArms, reach
from fabula.record.search.folding import copied, fold
from fabula.record.search.rank import (
    NOTHING,
    UNCOVERED,
    WEAK,
    Ranked,
    ThreadFacts,
    best_passages,
    rank_passages,
    rank_threads,
)
from fabula.search.matching import Tokenizer
from fabula.search.query import Word
from fabula.search.terms import Term, any_of, terms_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    import apsw

    from fabula.record.search.arms import TermStatistics
    from fabula.record.search.scope import Scope
    from fabula.record.search.words import Vocabulary
    from fabula.search.query import Query

SENTENCE = 3  # terms; fewer are names, whose meaning a vector would only guess

Unit = Literal["thread", "record"]
Order = Literal["relevance", "recent"]

#: Asks thread vectors: (text, words, which of some threads are allowed) to scores by thread, or why there are none.
Meaning: TypeAlias = "Callable[[str, Sequence[str], Callable[[Sequence[int]], set[int]]], dict[int, float] | str]"


@frozen
class Hit:
    """One result: a thread, and the passage of it that matched best (``None`` when the thread was found otherwise).

    ``reach`` is the share of the query's weight that the passage holds at most.
    """

    thread: int
    passage: PassageHit | None
    ranked: Ranked
    reach: float = 1.0


@define
class Found:
    """What a search found. ``number`` counts the candidates; ``coverage`` is the best one thread's."""

    hits: list[Hit] = field(default_factory=list)
    number: int = 0
    terms: tuple[Term, ...] = ()
    weights: tuple[float, ...] = ()
    statistics: list[TermStatistics] = field(default_factory=list)
    corrections: dict[str, str] = field(default_factory=dict)
    coverage: float = 0.0
    weak: bool = False
    meaning: str = "not asked"


class Searcher:
    """Searches one map. ``meaning`` is asked only when words leave a query uncovered; it may be absent."""

    def __init__(self, connection: apsw.Connection, meaning: Meaning | None = None) -> None:
        self.connection = connection
        self._arms = TextArms(connection)
        self._meaning = meaning
        self.tokenizer = Tokenizer(connection, TOKENIZER)
        self._vocabulary: Vocabulary | None = None

    def search(
        self,
        query: Query,
        scope: Scope,
        *,
        limit: int,
        offset: int = 0,
        unit: Unit = "thread",
        order: Order = "relevance",
    ) -> Found:
        """Return the results from ``offset`` on, at most ``limit``."""
        terms = terms_of(query.words)
        if not terms:
            return Found() if query.is_empty else self._newest((), scope, limit, offset)
        found = Found(terms=terms)
        arms = self._asked(found, scope, thorough=unit == "record")
        if order == "recent":
            newest = self._newest(found.terms, scope, limit, offset)
            if newest.hits:
                return self._describe(newest, found, arms)
        ranked = self._ranked(query, scope, found, arms)
        if not ranked:
            return found
        found.number = len(ranked)
        if unit == "record":
            hits = self._by_record(ranked, arms, scope)
            found.number = len(hits)
        elif order == "relevance":  # the rest is counted
            hits = self._by_thread(ranked[: offset + limit], arms)
        else:
            hits = self._by_thread(ranked, arms)
        if order == "recent":
            times = self._facts([hit.thread for hit in hits])
            hits.sort(key=lambda hit: (-times[hit.thread].last_time, -hit.ranked.score, hit.thread))
        found.hits = hits[offset : offset + limit]
        return found

    # ── the arms ─────────────────────────────────────────────────────

    def _asked(self, found: Found, scope: Scope, *, thorough: bool) -> Arms:
        arms = self._arms.listed(found.terms, scope)
        if any(one.is_unknown for one in arms.statistics):
            from fabula.record.search.words import Vocabulary

            self._vocabulary = self._vocabulary or Vocabulary(self.connection, self.tokenizer)
            better = self._vocabulary.corrected(arms.statistics)
            if better:
                found.corrections = {word: term.text for word, term in better.items()}
                found.terms = tuple(better.get(term.text, term) for term in found.terms)
                arms = self._arms.listed(found.terms, scope)
        self._arms.score(arms, scope, thorough=thorough)
        if not (arms.passages or arms.threads) and any(term.required for term in found.terms):
            found.terms = _loosened(found.terms)
            arms = self._arms.listed(found.terms, scope)
            self._arms.score(arms, scope, thorough=thorough)
        found.statistics = arms.statistics
        found.weights = tuple(one.weight for one in arms.statistics)
        return arms

    def _ranked(self, query: Query, scope: Scope, found: Found, arms: Arms) -> list[Ranked]:
        passages = best_passages(arms.passages)
        candidates = sorted({*list(passages)[:THREADS_KEPT], *arms.threads})
        coverage = self._coverage(arms, candidates)
        found.coverage = max(coverage.values(), default=0.0)
        meaning = self._by_meaning(query, scope, found)
        extra = sorted(set(meaning) - set(coverage))
        coverage.update(self._coverage(arms, extra))
        found.weak = found.coverage < WEAK
        if found.coverage < NOTHING and not meaning:
            return []
        facts = self._facts(coverage)
        titles = self._titles(found.statistics, coverage)
        ranked = rank_threads(arms.threads, passages, coverage, titles, meaning, facts, best_coverage=found.coverage)
        return fold(self.connection, ranked)

    def _coverage(self, arms: Arms, threads: Collection[int]) -> dict[int, float]:
        return self._arms.coverage(arms, threads) if threads else {}

    def _by_meaning(self, query: Query, scope: Scope, found: Found) -> dict[int, float]:
        asks_in_words = len(found.terms) >= SENTENCE and not any(term.required for term in found.terms)
        if found.coverage >= UNCOVERED or not asks_in_words:
            return {}
        if self._meaning is None:
            return {}
        words = [term.text for term in found.terms]
        scores = self._meaning(query.text, words, lambda threads: self._allowed(scope, threads))
        if isinstance(scores, str):
            found.meaning = scores
            return {}
        found.meaning = "asked"
        return scores

    def _allowed(self, scope: Scope, threads: Sequence[int]) -> set[int]:
        """Return those of ``threads`` that are in scope."""
        if scope.is_everything:
            return set(threads)
        marks = ",".join("?" * len(threads))
        condition, values = scope.condition("p.thread_id", "p")
        expression = scope.match("", prose=False)
        statement = f"select distinct p.thread_id from passages p where p.thread_id in ({marks}) and {condition}"
        if expression:
            statement += " and p.id in (select rowid from passages_fts where passages_fts match ?)"
            values.append(expression)
        return {int(thread) for (thread,) in self._rows(statement, (*threads, *values))}

    def _titles(self, statistics: Sequence[TermStatistics], threads: Iterable[int]) -> dict[int, float]:
        """Return for each thread the share of the query's weight that its session's title says."""
        whole = sum(one.weight for one in statistics) or 1.0
        statement = "select distinct abs(rowid) from titles_fts where titles_fts match ?"
        titled = [(one.term.whole.replace("- scope : ", ""), one.weight / whole) for one in statistics]
        if not self._rows(statement + " limit 1", (any_of(expression for expression, _ in titled),)):
            return {}
        said: dict[int, float] = {}
        for expression, share in titled:
            for (session,) in self._rows(statement, (expression,)):
                said[session] = said.get(session, 0.0) + share
        rows = self._rows(
            "select id, session_id from threads where session_id in (select value from json_each(?))",
            (str(list(said)),),
        )
        wanted = set(threads)
        return {thread: said[session] for thread, session in rows if thread in wanted}

    def _facts(self, threads: Collection[int]) -> dict[int, ThreadFacts]:
        programs = {session for (session,) in self._rows("select id from sessions where kind = 'sdk'", ())}
        rows = self._rows(
            "select id, session_id, last_time from threads where id in (select value from json_each(?))",
            (str(list(threads)),),
        )
        facts = {thread: ThreadFacts(last or 0, session in programs) for thread, session, last in rows}
        return {thread: facts.get(thread, ThreadFacts(0)) for thread in threads}

    # ── results ──────────────────────────────────────────────────────

    def _by_thread(self, ranked: Sequence[Ranked], arms: Arms) -> list[Hit]:
        best = _best_of_threads(arms)
        return [_hit(one.id, best.get(one.id), one, arms) for one in ranked]

    def _by_record(self, ranked: Sequence[Ranked], arms: Arms, scope: Scope) -> list[Hit]:
        scores = {one.id: one for one in ranked}
        around = [] if scope.needs_passage else self._arms.around(arms.passages)
        passages = {hit.id: hit for hit in (*around, *arms.passages) if hit.thread in scores}
        order = rank_passages(list(passages.values()), {key: one.score for key, one in scores.items()})
        hits = []
        for one in order:
            passage = passages[one.id]
            shown = Ranked(one.id, one.score, scores[passage.thread].coverage, one.arms)
            hits.append(_hit(passage.thread, passage, shown, arms))
        return hits

    def _newest(self, terms: Sequence[Term], scope: Scope, limit: int, offset: int) -> Found:
        from fabula.record.search.newest import newest_threads

        threads, number = newest_threads(self.connection, terms, scope, limit=limit, offset=offset)
        copies = copied(self.connection, threads)
        hits = [Hit(thread, None, Ranked(thread, 0.0, 1.0)) for thread in threads if thread not in copies]
        return Found(hits=hits, number=number, coverage=1.0)

    def _describe(self, newest: Found, found: Found, arms: Arms) -> Found:
        best = _best_of_threads(arms)
        found.hits = [_hit(hit.thread, best.get(hit.thread), hit.ranked, arms) for hit in newest.hits]
        found.number, found.coverage = newest.number, 1.0
        return found

    def _rows(self, statement: str, values: Sequence[object]) -> list[Any]:
        return list(self.connection.execute(statement, tuple(values)))


def _best_of_threads(arms: Arms) -> dict[int, PassageHit]:
    """Return the best passage of each thread."""
    best: dict[int, PassageHit] = {}
    for hit in arms.passages:  # the best first
        best.setdefault(hit.thread, hit)
    return best


def _hit(thread: int, passage: PassageHit | None, ranked: Ranked, arms: Arms) -> Hit:
    return Hit(thread, passage, ranked, reach(arms, passage.id) if passage is not None else 1.0)


def _loosened(terms: Sequence[Term]) -> tuple[Term, ...]:
    """Replace phrases that occur nowhere by their words."""
    loose: list[Term] = []
    for term in terms:
        loose += terms_of(Word(word) for word in term.text.split()) if term.required else [term]
    return tuple({term.text.casefold(): term for term in loose}.values())
