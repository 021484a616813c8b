"""From ids to what is shown: the rows of a page in few statements, and the part of each text that answers."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from fabula.kernel.values import frozen
from fabula.memory.index.schema import TOKENIZER
from fabula.memory.retrieval.ranking import Facts
from fabula.memory.retrieval.values import Hit
from fabula.memory.standing.decay import confidence_now
from fabula.memory.standing.reinforcement import EMPTY
from fabula.search.excerpt import Excerpt, excerpt
from fabula.search.matching import Matcher, Tokenizer

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import apsw

    from fabula.memory.retrieval.values import ArmPart
    from fabula.memory.standing.reinforcement import State
    from fabula.search.terms import Term

READ: Final = 6_000  # characters of a text in which the words of a question are looked for
_AMONG = "in (select value from json_each(?))"
_COLUMNS = (
    "f.id, f.path, f.title, f.claim, f.type, f.confidence, f.updated, f.holds_from, f.valid_until, f.workspace,"
    " f.archived, x.open_body is not null, coalesce(x.open_body, x.body)"
)


@frozen
class Shown:
    """How a hit came about."""

    score: float
    coverage: float
    superseded_by: str | None
    arms: dict[str, ArmPart]


class Shower:
    """Reads what is shown through one connection."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection
        self._tokenizer = Tokenizer(connection, TOKENIZER)
        self._facts: dict[int, Facts] = {}  # that were read since the index changed

    def forget(self) -> None:
        """Begin anew: the index has changed."""
        self._facts.clear()

    def facts(self, ids: Sequence[int]) -> dict[int, Facts]:
        """Return what decides between memories besides what they say."""
        known = self._facts
        lacking = [one for one in ids if one not in known]
        if lacking:
            columns = "id, path, type, holds_from, updated, fact_hash, claim"
            rows = self._rows(f"select {columns} from files where id {_AMONG}", lacking)
            known.update((one, Facts(*row)) for one, *row in rows)
        return {one: known[one] for one in ids if one in known}

    def disclosures(self, ids: Sequence[int]) -> dict[int, str]:
        """Return what may be quoted of each memory: claim, summaries, facets, citations, a line each."""
        return dict(self._rows(f"select file_id, disclosure from texts where file_id {_AMONG}", ids))

    def hits(
        self,
        shown: Mapping[int, Shown],
        terms: Sequence[Term],
        weights: Sequence[float],
        states: Mapping[str, State],
        now: int,
    ) -> list[Hit]:
        """Return the hits of a page, in the order given."""
        ids = list(shown)
        rows = {
            row[0]: row
            for row in self._rows(
                f"select {_COLUMNS} from files f join texts x on x.file_id = f.id where f.id {_AMONG}", ids
            )
        }
        tags = self._grouped(f"select file_id, tag from tags where file_id {_AMONG} order by tag", ids)
        entities = self._grouped(
            f"select file_id, type || ':' || name from entities where file_id {_AMONG} order by 2", ids
        )
        matcher = Matcher(self._tokenizer, [term.wanted for term in terms]) if terms else None
        found = []
        for one in ids:
            if one not in rows:
                continue
            _, path, title, claim, kind, confidence, updated, when, until, workspace, archived, folds, text = rows[one]
            part = snippet(matcher, claim, text, weights)
            state = states.get(path, EMPTY)
            confirmed = max(updated, state.last_reinforced or 0)
            how = shown[one]
            found.append(
                Hit(
                    one, path, title, claim, kind, how.score, how.coverage, confidence,
                    confidence_now(confidence, kind, confirmed, now), updated, when, until, workspace,
                    tuple(tags.get(one, ())), tuple(entities.get(one, ())), how.superseded_by, bool(archived),
                    bool(folds), part.text, part.marks, how.arms,
                )
            )  # fmt: skip
        return found

    def _rows(self, statement: str, ids: Sequence[int]) -> list[Any]:
        return list(self._connection.execute(statement, (json.dumps(list(ids)),)))

    def _grouped(self, statement: str, ids: Sequence[int]) -> dict[int, list[str]]:
        found: dict[int, list[str]] = {}
        for one, text in self._rows(statement, ids):
            found.setdefault(one, []).append(text)
        return found


def snippet(matcher: Matcher | None, claim: str, text: str, weights: Sequence[float]) -> Excerpt:
    """Return the part of a memory's open text that holds the most of a question; without any, its claim."""
    if matcher is not None:
        read = text[:READ]
        found = matcher.find(read)
        if found:
            return excerpt(read, found, weights)
    return excerpt(claim or text[:READ], (), weights)
