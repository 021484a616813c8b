"""One question from its text to hits: scope, arms, order, page. It reads the index, and keeps vectors that it made."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from fabula.kernel.values import define, field, replace
from fabula.memory.retrieval import ranking
from fabula.memory.retrieval.lexical import Lexical, LexicalArm
from fabula.memory.retrieval.meaning import Meant, VectorArm
from fabula.memory.retrieval.question import loosened, read_question
from fabula.memory.retrieval.recalling import disclosed
from fabula.memory.retrieval.scope import condition
from fabula.memory.retrieval.showing import Shower, Shown
from fabula.memory.retrieval.succeeding import following, with_successors
from fabula.memory.retrieval.values import Answer, Recalled
from fabula.memory.standing.ranking import demoted, diversified

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence

    from fabula.memory.retrieval.meaning import Index
    from fabula.memory.retrieval.question import Question
    from fabula.memory.retrieval.values import Ask, Hit, Scope
    from fabula.memory.standing.reinforcement import State
    from fabula.models.embedding import Embedder, Unavailable

POOL: Final = 3  # times what is shown is looked at for diversity
LEAST_POOL: Final = 30
BALANCE: Final = 0.7  # of relevance against being different from what stands before
SCOPES_REMEMBERED: Final = 8
RECALLED: Final = 30  # memories that a recall looks at


@define
class _Found:
    """One search on its way. ``order`` are the candidates, the best first."""

    question: Question
    lexical: Lexical
    meant: Meant
    arms: list[ranking.Arm] = field(default_factory=list)
    order: list[int] = field(default_factory=list)
    scores: dict[int, float] = field(default_factory=dict)
    facts: dict[int, ranking.Facts] = field(default_factory=dict)
    weak: bool = False

    @property
    def nearest(self) -> float:
        """The largest cosine."""
        return max(self.meant.scores.values(), default=0.0)


class Retriever:
    """Searches one index. ``states`` asks the state plane about paths; without it salience has no say."""

    def __init__(
        self,
        index: Index,
        embedder: Embedder | Unavailable,
        states: Callable[[Sequence[str]], Mapping[str, State]] | None = None,
    ) -> None:
        self._index = index
        self._vectors = VectorArm(index, embedder)
        self._states = states
        self._scopes: dict[Scope, frozenset[int]] = {}
        self._stamp: Hashable
        self._attach()

    def _attach(self) -> None:
        """Use the index's database as it is now: a rebuilt one may have another connection."""
        self._connection = self._index.connection
        self._lexical = LexicalArm(self._connection)
        self._shower = Shower(self._connection)
        self._stamp = None

    def search(self, ask: Ask) -> Answer:
        """Return what answers a question; nothing relevant is an empty answer."""
        if self._connection is not self._index.connection:
            self._attach()
        allowed = self._in_scope(ask.scope)
        question = read_question(ask.text)
        if question.is_blank:
            return self._newest(ask)
        found = self._found(question, ask, allowed)
        return Answer(
            hits=tuple(self._page(found, ask, allowed)),
            number=len(found.order),
            arms=tuple(name for name, *_ in found.arms),
            degraded=(f"vectors: {found.meant.why_not}",) if found.meant.why_not else (),
            weak=found.weak,
            scope_empty=not found.order and ask.scope.is_narrowed,
            coverage=found.lexical.best,
        )

    def recall(self, ask: Ask, budget: int) -> Recalled:
        """Return what fits into ``budget`` characters of an agent's context, the best first.

        Of a blank question nothing comes: what is handed to an agent answers something.
        """
        answer = self.search(replace(ask, limit=max(ask.limit, RECALLED)))
        hits = () if answer.is_listing else answer.hits
        texts = self._shower.disclosures([hit.id for hit in hits])
        arcs, memories = disclosed(hits, texts, budget)
        return Recalled(arcs, memories, answer.arms, answer.degraded, answer.weak)

    def prepare(self, most: int | None = None) -> int:
        """Make vectors that are missing, at most so many; return how many were made. Raises ``ERR_EMBEDDER``."""
        return self._vectors.prepare(most)

    # ── finding ──────────────────────────────────────────────────────
    def _found(self, question: Question, ask: Ask, allowed: frozenset[int]) -> _Found:
        """Ask the arms that find; what nobody is sure of is left out."""
        archived = ask.scope.archived or ask.scope.as_of is not None
        lexical = self._lexical.ask(question, allowed, archived=archived, enough=ask.offset + ask.limit)
        if not lexical.number and any(term.required for term in question.terms):
            question = loosened(question)
            lexical = self._lexical.ask(question, allowed, archived=archived, enough=ask.offset + ask.limit)
        if any(term.required for term in question.terms):
            meant = Meant(why_not="")  # a phrase is asked for by its words
        else:
            meant = self._vectors.ask(_meaning_of(question), allowed, ask.scope)
            meant.scores = {one: near for one, near in meant.scores.items() if one not in lexical.excluded}
        found = _Found(question, lexical, meant)
        found.weak = ranking.is_weak(found.lexical.best, found.nearest if meant.scores and not meant.why_not else None)
        if found.lexical.best >= ranking.NOTHING or found.nearest >= ranking.FAR:
            self._rank(found, ask.now)
        return found

    def _rank(self, found: _Found, now: int) -> None:
        text = ranking.text_scores(found.lexical.scores, found.lexical.coverage)
        near = {one: value for one, value in found.meant.scores.items() if one in text or value >= ranking.FAR}
        found.facts = self._shower.facts(sorted({*text, *near}))
        states = self._states_of(found.facts.values())
        found.arms = ranking.arms_of(text, found.lexical.scores, near, found.facts, states, now)
        ranked = ranking.rank(found.arms, found.facts)
        found.scores = {one.id: one.score for one in ranked}
        first: dict[str, int] = {}
        for one in found.scores:  # a fact that stands in several files is shown once
            first.setdefault(found.facts[one].fact, one)
        found.order = list(first.values())

    def _states_of(self, facts: Iterable[ranking.Facts]) -> Mapping[str, State] | None:
        return None if self._states is None else self._states([fact.path for fact in facts])

    # ── showing ──────────────────────────────────────────────────────
    def _page(self, found: _Found, ask: Ask, allowed: frozenset[int]) -> list[Hit]:
        chosen = self._spread(found, ask.offset + ask.limit)
        paths = [found.facts[one].path for one in chosen]
        placed, over = with_successors(self._connection, paths, allowed)
        page = placed[ask.offset : ask.offset + ask.limit]
        arms = ranking.explained(found.arms, page)
        shown = {
            one: Shown(found.scores.get(one, 0.0), found.lexical.coverage.get(one, 0.0), over.get(one), arms[one])
            for one in page
        }
        return self._shown(shown, ask, found)

    def _spread(self, found: _Found, limit: int) -> list[int]:
        """Choose what is shown: what disagrees with a better one is demoted, and repetition costs."""
        pool = found.order[: max(POOL * limit, LEAST_POOL)]
        likeness = self._vectors.likeness(pool)
        claims = {one: found.facts[one].claim for one in pool}
        weighed = demoted({one: found.scores[one] for one in pool}, likeness, claims)
        best = max(weighed.values(), default=0.0) or 1.0
        candidates = sorted(((one, weighed[one] / best) for one in pool), key=lambda pair: -pair[1])
        return diversified(candidates, likeness, limit, BALANCE)

    def _shown(self, shown: Mapping[int, Shown], ask: Ask, found: _Found) -> list[Hit]:
        new = [one for one in shown if one not in found.facts] if self._states is not None else []
        facts = found.facts | self._shower.facts(new) if new else found.facts
        states = self._states_of(facts[one] for one in shown) if self._states is not None else None
        return self._shower.hits(shown, found.question.terms, found.lexical.weights, states or {}, ask.now)

    def _newest(self, ask: Ask) -> Answer:
        """List the newest, by the time from which they hold."""
        where, values = condition(ask.scope)
        (number,) = self._connection.execute(f"select count(*) from files f where {where}", values).fetchone() or (0,)
        rows = self._connection.execute(
            f"select f.id, f.path from files f where {where} order by f.holds_from desc, f.path limit ? offset ?",
            (*values, ask.limit, ask.offset),
        )
        page = dict(rows)
        succession = following(self._connection, page.values())
        shown = {one: Shown(0.0, 0.0, succession.successor(path), {}) for one, path in page.items()}
        hits = self._shown(shown, ask, _Found(read_question(""), Lexical(), Meant()))
        return Answer(
            tuple(hits), int(number), ("recency",), is_listing=True, scope_empty=not number and ask.scope.is_narrowed
        )

    # ── the scope ────────────────────────────────────────────────────
    def _in_scope(self, scope: Scope) -> frozenset[int]:
        """Return the ids that a scope allows; remembered until the index changes."""
        stamp = self._index.stamp()
        if stamp != self._stamp:
            self._scopes.clear()
            self._lexical.forget()
            self._shower.forget()
            self._stamp = stamp
        allowed = self._scopes.get(scope)
        if allowed is None:
            where, values = condition(scope)
            (text,) = self._connection.execute(
                f"select json_group_array(f.id) from files f where {where}", values
            ).fetchone() or ("[]",)
            if len(self._scopes) >= SCOPES_REMEMBERED:
                self._scopes.clear()
            allowed = self._scopes[scope] = frozenset(json.loads(text))
        return allowed


def _meaning_of(question: Question) -> str:
    """Return the text whose meaning is looked for: what is excluded is no part of it."""
    return " ".join(term.text for term in question.terms) if question.excluded else question.text
