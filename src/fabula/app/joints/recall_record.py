"""What the record says about a question, word for word: a passage of each of the best threads, and its source."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from fabula.app.joints.recall_pack import PASSAGES_MOST, Piece, window
from fabula.app.record.finding import read, searcher
from fabula.kernel.clock import format_time
from fabula.kernel.errors import FabulaError
from fabula.kernel.hashes import digest
from fabula.kernel.values import frozen

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fabula.app.wiring import App
    from fabula.record.loader import Loaded, Row
    from fabula.record.search.engine import Hit
    from fabula.record.search.evidence import Evidence
    from fabula.record.search.shown import ShownThread

READER = "recall"
LOOKED_AT = 3 * PASSAGES_MOST
_ASKING = frozenset(("prompt", "task"))


@frozen
class Passage:
    """What a record says about a question, and which record that is. ``time`` in ms."""

    record: str
    thread: str
    session: str
    host: str
    project: str
    kind: str
    time: int | None
    text: str

    @property
    def piece(self) -> Piece:
        """The passage as a pack holds it."""
        when = format_time(self.time)[:16].replace("T", " ") if self.time is not None else "no time"
        source = f"[record {self.record}] {self.kind}, {when}, {self.host} session {self.session}, {self.project}"
        return Piece(self.thread, source, "\n".join(f"> {line}".rstrip() for line in self.text.splitlines()))


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
    hits = [hit for hit in found.hits if threads[hit.thread].session != session][:PASSAGES_MOST]
    evidence = EvidenceReader(app.loader(), engine.tokenizer, found, scope.kinds).of_hits(hits)
    answers = _answers(app, [(hit, one) for hit, one in zip(hits, evidence, strict=True) if one is not None])
    passages: list[Passage] = []
    digests: dict[str, bytes] = {}
    for hit, one in zip(hits, evidence, strict=True):
        if one is None:
            continue
        for row, words in ((one.row, one.excerpt.text), *((row, "") for row in answers.get(one.row.uid, ()))):
            loaded = _loaded(app, row)
            text = _said(loaded, words) if loaded is not None else ""
            if loaded is not None and text:
                passages.append(_passage(row, threads[hit.thread], text))
                digests[row.uid] = digest(loaded.raw)
    return FromRecord(tuple(passages), name, found.weak, digests)


def _answers(app: App, found: Sequence[tuple[Hit, Evidence]]) -> dict[str, tuple[Row, ...]]:
    """Return what was replied to the prompts that were found: who asks wants to know that more than the question."""
    asked = [(hit.passage.id, one.row) for hit, one in found if hit.passage is not None and one.row.kind in _ASKING]
    rows = app.loader().rows_of_passages([passage for passage, _ in asked]) if asked else {}
    replies = {
        prompt.uid: next((row for row in rows[passage] if row.id > prompt.id and row.kind == "reply"), None)
        for passage, prompt in asked
    }
    return {prompt: (reply,) for prompt, reply in replies.items() if reply is not None}


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


def _said(loaded: Loaded, found: str) -> str:
    """Return what stands around the words that were found, as it may be shown; one part of the record."""
    from fabula.record.quoting.texts import parts_of

    parts = [part.shown for part in parts_of(loaded.record)]
    words = found.strip("…").split()
    looked_for = re.compile(r"\s+".join(map(re.escape, words))) if words else None
    for part in parts if looked_for is not None else ():
        place = looked_for.search(part) if looked_for is not None else None
        if place is not None:
            return window(part, *place.span())
    return window(parts[0], 0, 0) if parts else ""


def _passage(row: Row, thread: ShownThread, text: str) -> Passage:
    time = row.time if row.time is not None else thread.last_time
    return Passage(row.uid, thread.id, thread.session, thread.host, thread.project, row.kind, time, text)
