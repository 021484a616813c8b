"""The verb ``recall``: what memory and record say about a question, in one pack under a token budget.

The planes are asked apart and meet here alone. What is handed out is remembered: records in the vault's journal, so
that retention keeps their bytes; memories in the log of the corpus, so that ``memory sources --used-by`` can tell.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.app.joints.recall_memory import FromMemory, memories_for
from fabula.app.joints.recall_pack import Pack, packed
from fabula.app.joints.recall_record import FromRecord, Passage, hand_out, passages_for
from fabula.app.record.reading import clean
from fabula.kernel.errors import FabulaError
from fabula.kernel.tokens import budget_characters, estimate_tokens
from fabula.kernel.values import frozen, replace
from fabula.record.reading.sentinels import wrap

if TYPE_CHECKING:
    from pathlib import Path

    from fabula.app.access import Freshness
    from fabula.app.wiring import App

READER = "recall"
MARKS = 400  # characters kept for the sentinel and the names in it
QUERY_SHOWN = 200


@frozen
class RecallRequest:
    """A question; ``budget`` in tokens; at most ``limit`` memories; of this repository, or of ``all``.

    ``session`` is who asks: its own words are not recalled to it. ``corpus`` is another memory than the configured.
    """

    query: str
    budget: int | None = None
    limit: int | None = None
    all: bool = False
    session: str = ""
    corpus: Path | None = None


@frozen
class RecalledMemory:
    """A memory in the pack; ``quoted``: with its text, else by its title alone."""

    path: str
    title: str
    quoted: bool


@frozen
class RecallResult:
    """The pack: ``text`` is wrapped as recalled text and lists all that is in it; "found nothing" is a comment.

    ``pack`` is the id under which the memory's log remembers it, empty when it does not.
    """

    query: str
    scope: str
    text: str
    tokens: int
    budget: int
    memories: tuple[RecalledMemory, ...]
    passages: tuple[Passage, ...]
    threads: tuple[str, ...]
    pack: str
    weak: bool
    notices: tuple[str, ...]
    fresh: Freshness | None


def recall(app: App, request: RecallRequest) -> RecallResult:
    """Recall. Raises ``ERR_QUERY``, ``ERR_DATABASE``, and ``ERR_NO_CORPUS`` when there is neither memory nor record."""
    budget = request.budget or app.config["render.budget"]
    room = budget_characters(budget)
    notices: list[str] = []
    memory = _memory(app, request, room, notices)
    record, fresh = _record(app, request, notices, is_alone=memory is None)
    memory = memory or FromMemory()
    if record.weak and memory.pieces and not memory.weak:
        record = replace(record, passages=())  # what is beside the question takes no room from what answers it
    pack, text = _written(request, memory, record, room)
    threads = tuple(dict.fromkeys(one.ref for one in pack.passages))
    shown = record.passages[: len(pack.passages)]
    titles = memory.titles or {}
    memories = tuple(RecalledMemory(one.ref, titles.get(one.ref, ""), bool(one.text)) for one in pack.memories)
    handed = _hand_out(app, request, memories, record, shown)
    notices += memory.degraded
    return RecallResult(
        request.query, record.scope, text, estimate_tokens(len(text)), budget, memories, shown, threads, handed,
        memory.weak and record.weak and bool(pack.memories or pack.passages), tuple(dict.fromkeys(notices)), fresh,
    )  # fmt: skip


def _memory(app: App, request: RecallRequest, room: int, notices: list[str]) -> FromMemory | None:
    """Ask the memory; ``None`` where there is none yet and none was named."""
    access = app.memory_at(request.corpus)
    try:
        found = memories_for(access, request.query, room, everything=_is_wide(app, request), limit=request.limit)
    except FabulaError as error:
        if error.code != "ERR_NO_CORPUS" or request.corpus is not None:
            raise
        notices.append(f"{error.message}{f' ({error.suggestions[0]})' if error.suggestions else ''}")
        return None
    notices += access.notices
    return found


def _record(
    app: App, request: RecallRequest, notices: list[str], *, is_alone: bool
) -> tuple[FromRecord, Freshness | None]:
    """Ask the record; where nothing was recorded yet there is nothing to ask."""
    try:
        fresh = app.refresh()
        found = passages_for(app, request.query, everything=_is_wide(app, request), session=request.session)
    except FabulaError as error:
        if error.code != "ERR_NO_RECORD" or is_alone:
            raise
        notices.append(error.message)
        return FromRecord((), "all" if _is_wide(app, request) else app.project[1], weak=True, digests={}), None
    return found, fresh


def _is_wide(app: App, request: RecallRequest) -> bool:
    return request.all or app.config["search.scope"] == "all"


def _written(request: RecallRequest, memory: FromMemory, record: FromRecord, room: int) -> tuple[Pack, str]:
    """Write the pack so that it fits with its sentinel; the names in that take room as well."""
    question = " ".join(clean(request.query).split())[:QUERY_SHOWN]
    weak = memory.weak and record.weak
    heading = f"recalled for: {question}" + ("\n(weak: nothing found holds much of the question)" if weak else "")
    pieces = [one.piece for one in record.passages]
    session = request.session or (record.passages[0].session if record.passages else "")
    taken = MARKS
    while True:
        pack = packed(heading, memory.pieces, pieces, room - taken)
        if not pack.memories and not pack.passages:
            return pack, f"<!-- fabula: nothing recalled for '{question.replace('--', '- -')}' -->"
        arcs = dict.fromkeys(named(one.ref) for one in (*pack.memories, *pack.passages))
        text = wrap(pack.text, session=session, thread="pack", arcs=arcs)
        if len(text) <= room or taken >= room:
            return pack, text
        taken += len(text) - room


def named(ref: str) -> str:
    """Return a thread or path as a list of names holds it: a comma would divide it."""
    return ref.replace("%", "%25").replace(",", "%2C") if "," in ref else ref


def _hand_out(
    app: App,
    request: RecallRequest,
    memories: tuple[RecalledMemory, ...],
    record: FromRecord,
    shown: tuple[Passage, ...],
) -> str:
    hand_out(app, [(one.record, record.digests[one.record]) for one in shown])
    if not memories:
        return ""
    state = app.memory_at(request.corpus).state()
    return state.handed_out(
        [one.path for one in memories], reader=READER, session=request.session, query=clean(request.query)
    )
