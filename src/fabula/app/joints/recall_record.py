"""What the record says about a question, word for word: a passage of each of the best threads, and its source."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from fabula.app.joints.recall_pack import PASSAGE_CHARACTERS, PASSAGES_MOST, Piece
from fabula.app.record.finding import read, searcher
from fabula.kernel.clock import format_time
from fabula.kernel.errors import FabulaError
from fabula.kernel.hashes import digest
from fabula.kernel.values import frozen

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from fabula.app.wiring import App
    from fabula.record.loader import Loaded, Row
    from fabula.record.search.engine import Found, Hit
    from fabula.record.search.evidence import Evidence
    from fabula.record.search.shown import ShownThread
    from fabula.search.matching import Tokenizer

READER = "recall"
Place = tuple[str, int, int]  # a text, and the characters of it that answer
LOOKED_AT = 3 * PASSAGES_MOST
LEAST_COVERAGE = 0.2  # of the question's weight: a thread that holds less is no answer, however like it may be
COVERAGE_SHARE = 0.6  # of what the best thread holds of the question: those with less are beside it
DEEP_CHARACTERS = 200_000  # of a text that are looked at
DEEP_BYTES = 1_000_000
ROWS_MOST = 12  # records of a passage that are looked at far down
_ASKING = frozenset(("prompt", "task"))


@frozen
class Passage:
    """What a record says about a question, and which record that is. ``time`` in ms.

    ``text`` is what the record says there, as it may be shown; ``start`` and ``end`` are where in it the answer is.
    """

    record: str
    thread: str
    session: str
    host: str
    project: str
    kind: str
    time: int | None
    text: str
    start: int
    end: int

    @property
    def piece(self) -> Piece:
        """The passage as a pack holds it."""
        when = format_time(self.time)[:16].replace("T", " ") if self.time is not None else "no time"
        source = f"[record {self.record}] {self.kind}, {when}, {self.host} session {self.session}, {self.project}"
        return Piece(self.thread, source, self.text, (self.start, self.end))


@frozen
class FromRecord:
    """Passages, the best first; ``weak``: no thread holds much of the question."""

    passages: tuple[Passage, ...]
    scope: str
    weak: bool
    digests: dict[str, bytes]


def passages_for(app: App, query: str, *, everything: bool, session: str) -> FromRecord:
    """Find what the record says, the asking ``session`` left out. Raises ``ERR_QUERY``, ``ERR_NO_RECORD``."""
    from fabula.record.search.evidence import EvidenceReader
    from fabula.record.search.shown import shown_threads

    wanted, scope, name = read(app, query, everything=everything)
    engine = searcher(app)
    found = engine.search(wanted, scope, limit=LOOKED_AT, offset=0, unit="thread", order="relevance")
    threads = shown_threads(app.reader(), {hit.thread for hit in found.hits})
    least = max([LEAST_COVERAGE, *(hit.ranked.coverage * COVERAGE_SHARE for hit in found.hits)])
    hits = [
        hit
        for hit in found.hits
        if threads[hit.thread].session != session and hit.ranked.coverage >= least and hit.ranked.score > 0
    ][:PASSAGES_MOST]
    evidence = EvidenceReader(app.loader(), engine.tokenizer, found, scope.kinds).of_hits(hits)
    finder = _Finder(app, engine.tokenizer, found)
    passages: list[Passage] = []
    digests: dict[str, bytes] = {}
    for hit, one in zip(hits, evidence, strict=True):
        for loaded, place in finder.said(hit, one) if one is not None else ():
            passages.append(_passage(loaded.row, threads[hit.thread], *place))
            digests[loaded.row.uid] = digest(loaded.raw)
    return FromRecord(tuple(passages), name, found.weak, digests)


class _Finder:
    """Finds in the records of a passage what answers, and where in them."""

    def __init__(self, app: App, tokenizer: Tokenizer, found: Found) -> None:
        from fabula.search.matching import Matcher

        self._app = app
        self._matcher = Matcher(tokenizer, [term.wanted for term in found.terms])
        self._weights = found.weights

    def said(self, hit: Hit, evidence: Evidence) -> list[tuple[Loaded, Place]]:
        """Return the record that answers, and what was replied to it where it is a question itself.

        Evidence looks at the beginning of each record; where that says nothing of the question, all of them is looked
        at.
        """
        rows = self._app.loader().rows_of_passages([hit.passage.id])[hit.passage.id] if hit.passage is not None else []
        if not evidence.terms and (far := self._far_down(rows)) is not None:
            return [far]
        found = [self._at(evidence.row, lambda _: evidence.excerpt.text)]
        if evidence.row.kind in _ASKING:
            later = (row for row in rows if row.id > evidence.row.id and row.kind == "reply")
            found += [self._at(row, None) for row in list(later)[:1]]
        return [one for one in found if one is not None]

    def _far_down(self, rows: Sequence[Row]) -> tuple[Loaded, Place] | None:
        small = [row for row in rows if row.length <= DEEP_BYTES][:ROWS_MOST]
        found = (self._at(row, self._lines) for row in small)
        return next((one for one in found if one is not None), None)

    def _lines(self, text: str) -> str:
        """Return the lines of a text that say most of the question; empty when none says anything."""
        from fabula.search.excerpt import excerpt

        matches = self._matcher.find(text[:DEEP_CHARACTERS])
        return excerpt(text, matches, self._weights).text if matches else ""

    def _at(self, row: Row, find: Callable[[str], str] | None) -> tuple[Loaded, Place] | None:
        """Return a record and where in it the words stand that ``find`` names; ``None``: its beginning is wanted."""
        from fabula.record.quoting.texts import parts_of

        loaded = _loaded(self._app, row)
        parts = [part.shown for part in parts_of(loaded.record)] if loaded is not None else []
        for part in parts:
            words = find(part).strip("…").split() if find is not None else []
            place = re.search(r"\s+".join(map(re.escape, words)), part) if words else None
            if place is not None and loaded is not None:
                return loaded, around(part, *place.span())
        is_searched = find is not None and find == self._lines
        return (loaded, around(parts[0], 0, 0)) if loaded is not None and parts and not is_searched else None


def around(text: str, start: int, end: int) -> Place:
    """Return as much of a text around a place as a pack may show of it, and where the place is in that."""
    begin = max(0, start - PASSAGE_CHARACTERS - 1)
    end = min(end, start + PASSAGE_CHARACTERS)
    return text[begin : end + PASSAGE_CHARACTERS + 1], start - begin, end - begin


def hand_out(app: App, given: Sequence[tuple[str, bytes]]) -> None:
    """Note that these records were handed to a reader, who may cite them; where nothing can be written, go on."""
    from fabula.record.vault.keepsakes import Keepsakes

    if not given:
        return
    try:
        keepsakes = Keepsakes.open(app.home.vault, app.clock)
    except FabulaError:
        return
    try:
        keepsakes.hand_out(given, READER)
    except FabulaError:
        return
    finally:
        keepsakes.close()


def _loaded(app: App, row: Row) -> Loaded | None:
    try:
        (loaded,) = app.loader().load([row])
    except FabulaError:
        return None
    return loaded


def _passage(row: Row, thread: ShownThread, text: str, start: int, end: int) -> Passage:
    time = row.time if row.time is not None else thread.last_time
    return Passage(row.uid, thread.id, thread.session, thread.host, thread.project, row.kind, time, text, start, end)
