"""The meaning arm: threads whose beginning means what a query says in other words.

A thread's vector is that of how it began: its first prompt says first what it is about. Beside it lie the ids of the
beginning's word pieces, against which each piece of a query is compared one by one: a query names its object exactly
and its trouble in other words, and a mean alone blurs both. Vectors are made lazily and kept in the map.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from fabula.kernel.errors import FabulaError
from fabula.kernel.hashes import digest
from fabula.kernel.ids import pack_id
from fabula.kernel.records import KINDS
from fabula.kernel.values import frozen
from fabula.models.static_table import DIMENSIONS, StaticTable, unit
from fabula.record.reading.sentinels import strip

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    import apsw

    from fabula.record.loader import Loader, Row

HEAD_CHARACTERS = 400
HEAD_PIECES = 40
QUERY_PIECES = 64
PIECE_DECAY = 50.0  # pieces after which one at a head counts 1/e in the comparison piece by piece
PIECES_WEIGHT = 1.0  # of that comparison; that of the means has 1
KEPT = 200
SHORTLIST = 600  # threads compared piece by piece: the closest by their means

_OPENERS = tuple(KINDS.index(kind) for kind in ("prompt", "task"))


@frozen
class HeadVector:
    """What is kept of a thread's beginning. ``key`` tells the text and the table that it was made from."""

    thread: int
    key: bytes
    vector: bytes


def make_vectors(loader: Loader, table: StaticTable, threads: Iterable[int]) -> list[HeadVector]:
    """Embed the beginnings of threads. A thread whose beginning cannot be read gets an empty vector."""
    return [_head_vector(loader, table, thread) for thread in threads]


def keep_vectors(connection: apsw.Connection, vectors: Sequence[HeadVector]) -> None:
    """Write vectors to the map; the caller holds the writer lock."""
    with connection:
        connection.executemany(
            "insert or replace into vectors(thread_id, text_hash, vector) select ?1, ?2, ?3"
            " where exists(select 1 from threads where id = ?1)",
            sorted((one.thread, one.key, one.vector) for one in vectors),
        )


def _head_vector(loader: Loader, table: StaticTable, thread: int) -> HeadVector:
    marks = ",".join(map(str, _OPENERS))
    rows = loader.rows(f"id = (select min(id) from records where thread_id = ? and kind in ({marks}))", (thread,))
    if not rows:
        return HeadVector(thread, table.tag, b"")
    return HeadVector(thread, _key(table, rows[0]), _encoded(table, _head_text(loader, rows[0])))


def _key(table: StaticTable, row: Row) -> bytes:
    return table.tag + digest(f"{pack_id(row.uid)!r}:{row.length}".encode())[:8]


def _head_text(loader: Loader, row: Row) -> str:
    try:
        (found,) = loader.load([row])
    except FabulaError:
        return ""
    text = " ".join(block.text for block in found.record.blocks if block.kind == "text")
    return strip(text)[0][:HEAD_CHARACTERS]


def _encoded(table: StaticTable, text: str) -> bytes:
    import numpy

    ids = table.pieces.ids(text, HEAD_PIECES)
    if not ids:
        return b""
    mean = numpy.round(table.mean(ids, head=True) * 127 / 0.5).clip(-127, 127).astype(numpy.int8)
    return bytes(mean.tobytes() + numpy.asarray(ids, dtype="<u2").tobytes())


class MeaningArm:
    """Compares a query with the vectors that a map holds; reads them once, and what is new when the map has changed."""

    def __init__(self, connection: apsw.Connection, table: StaticTable) -> None:
        import numpy

        self._numpy = numpy
        self._connection = connection
        self._table = table
        self._seen: tuple[int, ...] = ()  # the map's version and the count of changes to its vectors
        self._held: dict[int, bytes] = {}  # the map's vectors of this table, by thread
        self._lacking: tuple[int, list[int]] = (-1, [])  # as of a version: threads without one, the newest first
        self._arrange({})

    def can_tell(self, words: Sequence[str]) -> bool:
        """Say whether the table knows at least half of the words: it guesses at made-up ones."""
        return 2 * sum(self._table.knows(word) for word in words) >= max(1, len(words))

    def missing(self, limit: int) -> list[int]:
        """Return the newest threads that have no vector of this table."""
        self._read()
        version = self._version()
        if self._lacking[0] != version:
            (text,) = self._connection.execute("select json_group_array(id) from threads").fetchone() or ("[]",)
            self._lacking = version, sorted(set(json.loads(text)).difference(self._held), reverse=True)
        return self._lacking[1][:limit]

    def ask(
        self, text: str, allowed: Callable[[Sequence[int]], set[int]], fresh: Sequence[HeadVector] = ()
    ) -> dict[int, float]:
        """Score the threads that are closest to a query's text, of those that ``allowed`` lets through.

        ``fresh`` are vectors that the map may not hold yet.
        """
        numpy = self._numpy
        self._read()
        new = {one.thread: one.vector for one in fresh if one.thread not in self._held}
        if new:
            self._held.update(new)
            self._arrange(self._held)
        ids = self._table.pieces.ids(text, QUERY_PIECES)
        if not ids or not len(self._threads):
            return {}
        means = self._close(self._table.mean(ids, head=False)[None, :], self._means)[0]
        rows = self._shortlist(means, allowed)
        scores = means[rows] + PIECES_WEIGHT * self._by_piece(ids, rows)
        best = numpy.argsort(-scores, kind="stable")[:KEPT]
        return {int(self._threads[rows[at]]): float(scores[at]) for at in best}

    def _shortlist(self, means: Any, allowed: Callable[[Sequence[int]], set[int]]) -> Any:
        """Return the rows of the closest threads that are allowed, the closest first."""
        numpy = self._numpy
        number = SHORTLIST
        while True:
            some = numpy.argpartition(-means, number)[:number] if number < len(means) else numpy.arange(len(means))
            order = some[numpy.lexsort((some, -means[some]))]
            threads = self._threads[order].tolist()
            within = allowed(threads)
            if len(within) == len(threads):
                return order[:SHORTLIST]
            chosen = order[numpy.fromiter((thread in within for thread in threads), bool, len(threads))]
            if len(chosen) >= SHORTLIST or number >= len(means):
                return chosen[:SHORTLIST]
            number *= 4

    def _by_piece(self, ids: Sequence[int], rows: Any) -> Any:
        """For each thread: how close the closest piece of its beginning is to each piece of the query, on average.

        Pieces weigh by their rarity among beginnings; early pieces of a beginning count more.
        """
        numpy = self._numpy
        close = numpy.zeros((len(ids), len(self._distinct) + 1), numpy.float32)  # the last column is the padding's
        close[:, :-1] = self._close(unit(numpy, self._table.vectors(ids)), self._pieces)
        weights = self._rarity(ids)
        best = (close[:, self._heads[rows]] * self._decay).max(axis=2)
        return weights @ best / max(float(weights.sum()), 1e-9)

    def _close(self, queries: Any, vectors: Any) -> Any:
        """Return the products of rows: [queries, vectors].

        By einsum, not by a matrix product: for so little work the threads of a BLAS cost more than they bring.
        """
        return self._numpy.einsum("qd,vd->qv", queries, vectors)

    def _rarity(self, ids: Sequence[int]) -> Any:
        numpy = self._numpy
        held = self._holders[self._place[numpy.asarray(ids)]]
        return numpy.log(1 + (len(self._threads) - held + 0.5) / (held + 0.5)).astype(numpy.float32)

    # ── the map's vectors ────────────────────────────────────────────

    def _version(self) -> int:
        return int(self._connection.pragma("data_version") or 0)

    def _read(self) -> None:
        """Bring what is held up to date: vectors are added and removed, never altered."""
        version = self._version()
        if self._seen[:1] == (version,):
            return
        changes = self._connection.execute("select value from meta where key = 'vectors_changes'").fetchone()
        seen = (version, int(changes[0]) if changes else 0)
        if self._seen[1:] != seen[1:]:
            tag = self._table.tag
            of_table = "from vectors where substr(text_hash, 1, ?) = ?"
            (text,) = self._connection.execute(
                f"select json_group_array(thread_id) {of_table}", (len(tag), tag)
            ).fetchone() or ("[]",)
            there = set(json.loads(text))
            new = there.difference(self._held)
            self._held = {thread: vector for thread, vector in self._held.items() if thread in there}
            rows = self._connection.execute(
                f"select thread_id, vector {of_table} and thread_id in (select value from json_each(?))",
                (len(tag), tag, json.dumps(sorted(new))),
            )
            self._held.update((int(thread), bytes(vector)) for thread, vector in rows)
            self._arrange(self._held)
        self._seen = seen

    def _arrange(self, held: dict[int, bytes]) -> None:
        """Lay the vectors out for comparing: means, and beginnings as numbers of the distinct pieces in them."""
        numpy = self._numpy
        vectors = {thread: vector for thread, vector in sorted(held.items()) if len(vector) > DIMENSIONS}
        number = len(vectors)
        self._threads = numpy.fromiter(vectors, numpy.int64, number)
        means = numpy.frombuffer(b"".join(one[:DIMENSIONS] for one in vectors.values()), numpy.int8)
        self._means = unit(numpy, means.reshape(-1, DIMENSIONS).astype(numpy.float32))
        lengths = numpy.fromiter(((len(one) - DIMENSIONS) // 2 for one in vectors.values()), numpy.int64, number)
        flat = numpy.frombuffer(b"".join(one[DIMENSIONS:] for one in vectors.values()), "<u2")
        present = numpy.zeros(1 << 16, bool)
        present[flat] = True
        self._distinct = numpy.flatnonzero(present)
        self._place = numpy.full(1 << 16, len(self._distinct), numpy.int32)  # the last place is that of the unknown
        self._place[self._distinct] = numpy.arange(len(self._distinct), dtype=numpy.int32)
        self._heads = numpy.full((number, HEAD_PIECES), len(self._distinct), numpy.int32)
        columns = numpy.arange(HEAD_PIECES)
        self._heads[columns[None, :] < lengths[:, None]] = self._place[flat]
        self._decay = numpy.exp(-columns.astype(numpy.float32) / PIECE_DECAY)
        ordered = numpy.sort(self._heads, axis=1)
        once = numpy.ones_like(ordered, bool)
        once[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
        self._holders = numpy.bincount(ordered[once], minlength=len(self._distinct) + 1)  # beginnings with each piece
        self._holders[-1] = 0
        self._pieces = unit(numpy, self._table.vectors(self._distinct))
