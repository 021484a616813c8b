"""Which threads of a session are likely the ones to take out: much of the file for little that was said."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fabula.kernel.ids import unpack_id
from fabula.kernel.tokens import estimate_tokens
from fabula.kernel.values import frozen
from fabula.search.stopwords import is_stop_word

if TYPE_CHECKING:
    from collections.abc import Sequence

    import apsw

NOISY_BYTES = 100_000  # a thread below this size is not worth the trouble
NOISY_SHARE = 0.03  # of its bytes that are prose
TOP_TERMS = 4
SHARED_TERMS = 2

NOISE = "mostly output of tools"
SUBAGENTS = "mostly subagents' work"
SUPERSEDED = "a later thread is about the same"


@frozen
class ThreadFacts:
    """What a suggestion is judged by. ``bytes`` and ``records`` are those in the session's file; ``sidechain_records``
    are counted wherever they lie; ``terms`` are the targets and concepts that it mentions most.
    """

    thread: str
    row: int
    bytes: int
    characters: int  # of prose
    records: int
    sidechain_records: int
    all_records: int
    terms: frozenset[str]


@frozen
class Suggestion:
    """A thread that may go, with the reasons."""

    thread: str
    row: int
    records: int
    bytes: int
    tokens: int  # an estimate of all that stands in the file
    reasons: tuple[str, ...]


def suggest(threads: Sequence[ThreadFacts]) -> list[Suggestion]:
    """Return the threads, given in their order, for which there are reasons to go: the largest first."""
    found = []
    for place, thread in enumerate(threads):
        reasons = []
        if thread.bytes > NOISY_BYTES and thread.characters < NOISY_SHARE * thread.bytes:
            reasons.append(NOISE)
        if thread.sidechain_records * 2 > thread.all_records:
            reasons.append(SUBAGENTS)
        if any(len(thread.terms & later.terms) >= SHARED_TERMS for later in threads[place + 1 :]):
            reasons.append(SUPERSEDED)
        if reasons:
            tokens = estimate_tokens(thread.bytes)
            found.append(Suggestion(thread.thread, thread.row, thread.records, thread.bytes, tokens, tuple(reasons)))
    return sorted(found, key=lambda one: (-one.bytes, one.thread))


def facts_of_file(connection: apsw.Connection, path: str) -> list[ThreadFacts]:
    """Return the threads that have records in a live file, in the order in which they begin there."""
    rows: list[Any] = connection.execute(
        "select t.id, t.uid, sum(r.length + 1), t.characters, count(*), t.sidechain_records, t.records"
        " from records r join threads t on t.id = r.thread_id join files f on f.id = r.file_id"
        " where f.path = ? and f.generation < 0 group by t.id order by min(r.offset)",
        (path,),
    ).fetchall()
    return [
        ThreadFacts(unpack_id(uid), row, size, characters, records, side, whole, _terms(connection, row))
        for row, uid, size, characters, records, side, whole in rows
    ]


def _terms(connection: apsw.Connection, thread: int) -> frozenset[str]:
    rows = connection.execute(
        "select term from terms where thread_id = ? and kind in ('concept', 'target') order by count desc, term",
        (thread,),
    )
    telling = [str(term) for (term,) in rows if not is_stop_word(str(term))]
    return frozenset(telling[:TOP_TERMS])
