"""The verb ``record context``: the best conversations about a question in one text under a token budget."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.app.record.reading import clean, read_thread
from fabula.app.record.search import SearchRequest, search
from fabula.kernel.errors import FabulaError
from fabula.kernel.hashes import digest
from fabula.kernel.tokens import budget_characters, estimate_tokens
from fabula.kernel.values import frozen
from fabula.record.reading.catalogue import thread_by_row
from fabula.record.reading.identify import identify
from fabula.record.reading.render import render_thread
from fabula.record.reading.sentinels import wrap

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fabula.app.access import Freshness
    from fabula.app.record.finding import SearchHit
    from fabula.app.record.reading import ThreadReading
    from fabula.app.wiring import App

CONVERSATIONS = 5
LEAST_SHARE = 150  # tokens; a smaller part of a conversation tells nothing
BULLET = 60  # tokens kept for a conversation's line in the list
READER = "record context"


@frozen
class ContextRequest:
    """A question; ``budget`` in tokens; at most ``limit`` conversations, of this repository or of ``all``."""

    query: str
    budget: int | None = None
    limit: int | None = None
    all: bool = False


@frozen
class ContextResult:
    """The pack: ``text`` is wrapped as recalled text and lists every thread in it; "found nothing" is a comment."""

    query: str
    scope: str
    text: str
    tokens: int
    budget: int
    threads: tuple[str, ...]
    weak: bool
    fresh: Freshness


def context(app: App, request: ContextRequest) -> ContextResult:
    """Pack what the record says about a question. Raises ``ERR_QUERY``, ``ERR_NO_RECORD``, ``ERR_DATABASE``."""
    budget = request.budget or app.config["render.budget"]
    most = max(1, min(request.limit or CONVERSATIONS, budget // (LEAST_SHARE + BULLET)))
    found = search(app, SearchRequest(request.query, all=request.all, limit=most))
    packed = [(hit, text) for hit, text in zip(found.hits, _rendered(app, found.hits, budget), strict=True) if text]
    if not packed:
        shown = clean(request.query).replace("--", "- -")
        text = f"<!-- fabula: no archive matches for '{shown}' -->"
    else:
        text = _pack(request.query, packed, budget, weak=found.weak)
    threads = tuple(hit.thread for hit, _ in packed)
    return ContextResult(
        request.query, found.scope, text, estimate_tokens(len(text)), budget, threads, found.weak, found.fresh
    )


def _rendered(app: App, hits: Sequence[SearchHit], budget: int) -> list[str]:
    """Render each thread under its share of the budget: more for a better one. One that cannot be read is empty."""
    total = sum(hit.score for hit in hits) or 1.0
    room = max(budget - BULLET * (len(hits) + 1), LEAST_SHARE * len(hits))
    texts = []
    for hit in hits:
        share = max(LEAST_SHARE, round(room * (hit.score or 1 / len(hits)) / total))
        try:
            reading = read_thread(app, thread_by_row(app.reader(), identify(app.reader(), hit.thread, "thread").id))
        except FabulaError:
            texts.append("")
            continue
        texts.append(render_thread(reading.view, budget=share, sentinel=False).text)
        _hand_out(app, reading)
    return texts


def _pack(query: str, packed: Sequence[tuple[SearchHit, str]], budget: int, *, weak: bool) -> str:
    lines = [f"context pack: {clean(query)}"]
    if weak:
        lines.append("(weak matches: no conversation holds much of the question)")
    lines += [f"- {hit.title or hit.excerpt[:120]} — {hit.records} records  ({hit.thread})" for hit, _ in packed]
    body = "\n".join([*lines, "", "\n\n".join(text for _, text in packed)])
    body = body[: budget_characters(budget) * 3 // 2]
    first = packed[0][0]
    return wrap(body, session=first.session, thread="pack", arcs=[hit.thread for hit, _ in packed])


def _hand_out(app: App, reading: ThreadReading) -> None:
    """Note that these records were handed to a reader, who may quote them; where nothing can be written, go on."""
    from fabula.record.vault.keepsakes import Keepsakes

    try:
        keepsakes = Keepsakes.open(app.home.vault, app.clock)
    except FabulaError:
        return
    try:
        keepsakes.hand_out([(one.row.uid, digest(one.raw)) for one in reading.loaded if one.raw], READER)
    except FabulaError:
        return
    finally:
        keepsakes.close()
