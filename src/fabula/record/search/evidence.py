"""From a passage to the record in it that says what was looked for, and the lines of it to show."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fabula.kernel.errors import FabulaError
from fabula.kernel.values import frozen
from fabula.record.ingest.text import TEXT_COLUMN, searchable
from fabula.record.map.schema import PASSAGE_COLUMNS
from fabula.redaction.redact import redact
from fabula.search.excerpt import Excerpt, excerpt
from fabula.search.matching import Match, Matcher, relevance

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fabula.record.loader import Loader, Row
    from fabula.record.search.engine import Found, Hit
    from fabula.search.matching import Tokenizer

_KEY = "-----BEGIN"
READ_CHARACTERS = 4_000  # of one record's column that are looked at for the lines to show
PARTS_SHARE = 0.3  # of the parts of a name, when records of one passage are compared
READ_BYTES = 200_000  # a longer record is looked at only when it is the only one of its passage


#: The order in which kinds of records are read.
OPENERS = ("prompt", "task", "reply")  # what may stand for a thread that was found without a passage
FIRST = {"prompt": 0, "task": 0, "reply": 1, "call": 2}
#: The weight of the best column that a record of a kind may have; of other kinds that of results.
HEAVIEST = {"prompt": 1.0, "task": 1.0, "reply": 0.6, "thought": 0.6, "call": 0.6}
_OTHERS = 0.35
REPEATED = 2.0  # times what a term counts when it is said again and again: see ``search.matching.relevance``
SLACK = 0.02  # of coverage that rounding and parts of names may cost


@frozen
class Evidence:
    """The record that answers best inside a passage, and the part of its text to show."""

    row: Row
    excerpt: Excerpt
    terms: tuple[int, ...]  # numbers of the terms that its text says


class EvidenceReader:
    """Reads the records of the few passages that are shown."""

    def __init__(self, loader: Loader, tokenizer: Tokenizer, found: Found, kinds: Sequence[str] = ()) -> None:
        self._loader = loader
        self._matcher = Matcher(tokenizer, [term.wanted for term in found.terms])
        self._weights = found.weights
        self._parts = sum(PARTS_SHARE * one.weight for one in found.statistics if one.term.parts)
        self._kinds = frozenset(kinds)

    def of_hits(self, hits: Sequence[Hit]) -> list[Evidence | None]:
        """Return the best record of each hit's passage, else how its thread began; ``None`` where nothing can be read.

        What people and agents said is read first, and reading ends with a record that holds as much of the query as its
        passage and its whole thread do.
        """
        passages = self._loader.rows_of_passages([hit.passage.id for hit in hits if hit.passage is not None])
        found = [
            self._best(self._wanted(passages[hit.passage.id]), hit.reach, hit.ranked.coverage) if hit.passage else None
            for hit in hits
        ]
        without = [hit.thread for hit, evidence in zip(hits, found, strict=True) if evidence is None]
        openings = self._loader.openings(without, OPENERS) if without else {}
        return [
            evidence or (self._best([openings[hit.thread]], 1.0, 1.0) if hit.thread in openings else None)
            for hit, evidence in zip(hits, found, strict=True)
        ]

    def _wanted(self, rows: Sequence[Row]) -> list[Row]:
        """Return the rows of a passage that are looked at, in order."""
        small = [row for row in rows if row.kind in TEXT_COLUMN and (row.length <= READ_BYTES or len(rows) == 1)]
        wanted = [row for row in small if not self._kinds or row.kind in self._kinds]
        return sorted(wanted, key=lambda row: (FIRST.get(row.kind, 3), row.id))

    def _best(self, rows: Sequence[Row], reach: float, coverage: float) -> Evidence | None:
        enough = min(reach, coverage, 1.0) - SLACK
        most = reach * sum(self._weights) + self._parts  # of what any text of the passage says, each term once
        best: tuple[float, Row, str, list[Match]] | None = None
        for row in rows:
            if best is not None and best[0] >= REPEATED * most * HEAVIEST.get(row.kind, _OTHERS):
                continue  # nothing that it may say would be better
            for text, weight in self._texts(row):
                matches = self._matcher.find(text)
                score = weight * relevance(matches, self._weights, PARTS_SHARE)
                if best is None or score > best[0]:
                    best = (score, row, text, matches)
            if best is not None and self._share(best[3]) >= enough:
                break
        if best is None:
            return None
        _, row, text, matches = best
        if _KEY in text:  # longer than an excerpt, and its inner lines alone are not known as a secret
            text = redact(text)
            matches = self._matcher.find(text)
        shown = excerpt(text, matches, self._weights)
        return Evidence(row, shown, tuple(sorted({match.term for match in matches if match.whole})))

    def _share(self, matches: Sequence[Match]) -> float:
        """Return the share of the query's weight that matches hold whole."""
        return sum(self._weights[term] for term in {m.term for m in matches if m.whole}) / (sum(self._weights) or 1.0)

    def _texts(self, row: Row) -> list[tuple[str, float]]:
        """Return the searched texts of a record with the weights of their columns."""
        try:
            (loaded,) = self._loader.load([row])
        except FabulaError:
            return []
        text: Any = searchable(loaded.record)
        if text is None:
            return []
        columns = ((getattr(text, name, ""), weight) for name, weight in PASSAGE_COLUMNS)
        return [(said[:READ_CHARACTERS], weight) for said, weight in columns if said]
