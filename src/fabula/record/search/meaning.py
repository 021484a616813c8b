"""The meaning arm: threads whose beginning means what a query says in other words.

A thread's vector is that of how it began: its first prompt says first what it is about. Beside it lie the ids of the
beginning's word pieces, against which each piece of a query is compared one by one: a query names its object exactly
and its trouble in other words, and a mean alone blurs both. Vectors are made lazily and kept in the map.
"""

from __future__ import annotations

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


def without_vector(connection: apsw.Connection, tag: bytes, limit: int) -> list[int]:
    """Return the newest threads that have no vector of this table."""
    rows: list[Any] = connection.execute(
        "select id from threads where id not in (select thread_id from vectors where substr(text_hash, 1, ?) = ?)"
        " order by id desc limit ?",
        (len(tag), tag, limit),
    ).fetchall()
    return [int(row[0]) for row in rows]


def make_vectors(loader: Loader, table: StaticTable, threads: Iterable[int]) -> list[HeadVector]:
    """Embed the beginnings of threads. A thread whose beginning cannot be read gets an empty vector."""
    return [_head_vector(loader, table, thread) for thread in threads]


def keep_vectors(connection: apsw.Connection, vectors: Sequence[HeadVector]) -> None:
    """Write vectors to the map; the caller holds the writer lock."""
    with connection:
        connection.executemany(
            "insert or replace into vectors(thread_id, text_hash, vector) select ?1, ?2, ?3"
            " where exists(select 1 from threads where id = ?1)",
            ((one.thread, one.key, one.vector) for one in vectors),
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
    """Compares a query with the vectors that a map holds; reads them once and again when the map has changed."""

    def __init__(self, connection: apsw.Connection, table: StaticTable) -> None:
        import numpy

        self._numpy = numpy
        self._connection = connection
        self._table = table
        self._version: tuple[int, ...] = ()
        self._threads: Any = numpy.zeros(0, numpy.int64)

    def can_tell(self, words: Sequence[str]) -> bool:
        """Say whether the table knows at least half of the words: it guesses at made-up ones."""
        return 2 * sum(self._table.knows(word) for word in words) >= max(1, len(words))

    def ask(
        self, text: str, allowed: Callable[[Sequence[int]], set[int]], fresh: Sequence[HeadVector] = ()
    ) -> dict[int, float]:
        """Score the threads that are closest to a query's text, of those that ``allowed`` lets through.

        ``fresh`` are vectors that the map does not hold yet.
        """
        numpy = self._numpy
        self._read(fresh)
        ids = self._table.pieces.ids(text, QUERY_PIECES)
        if not ids or not len(self._threads):
            return {}
        means = self._close(self._table.mean(ids, head=False)[None, :], self._means)[0]
        rows = self._shortlist(numpy.argsort(-means, kind="stable"), allowed)
        scores = means[rows] + PIECES_WEIGHT * self._by_piece(ids, rows)
        best = numpy.argsort(-scores, kind="stable")[:KEPT]
        return {int(self._threads[rows[at]]): float(scores[at]) for at in best}

    def _shortlist(self, order: Any, allowed: Callable[[Sequence[int]], set[int]]) -> Any:
        """Return the first rows of an order whose threads are allowed."""
        chosen: list[int] = []
        for at in range(0, len(order), SHORTLIST):
            part = order[at : at + SHORTLIST]
            within = allowed([int(thread) for thread in self._threads[part]])
            chosen += [int(row) for row in part if int(self._threads[row]) in within]
            if len(chosen) >= SHORTLIST:
                break
        return self._numpy.asarray(chosen[:SHORTLIST], dtype=self._numpy.int64)

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
        at = numpy.searchsorted(self._distinct, ids).clip(0, len(self._distinct) - 1)
        held = numpy.where(self._distinct[at] == ids, self._holders[at], 0)
        return numpy.log(1 + (len(self._threads) - held + 0.5) / (held + 0.5)).astype(numpy.float32)

    def _read(self, fresh: Sequence[HeadVector]) -> None:
        version = (int(self._connection.pragma("data_version") or 0), len(fresh))
        if version == self._version and not fresh:
            return
        tag = self._table.tag
        rows = self._connection.execute(
            "select thread_id, vector from vectors where substr(text_hash, 1, ?) = ? order by thread_id",
            (len(tag), tag),
        )
        held: dict[int, bytes] = {int(thread): bytes(vector) for thread, vector in rows}
        held.update((one.thread, one.vector) for one in fresh)
        self._arrange({thread: vector for thread, vector in sorted(held.items()) if len(vector) > DIMENSIONS})
        self._version = version

    def _arrange(self, vectors: dict[int, bytes]) -> None:
        numpy = self._numpy
        self._threads = numpy.fromiter(vectors, numpy.int64, len(vectors))
        means = numpy.frombuffer(b"".join(one[:DIMENSIONS] for one in vectors.values()), numpy.int8)
        self._means = unit(numpy, means.reshape(-1, DIMENSIONS).astype(numpy.float32))
        lengths = numpy.fromiter(((len(one) - DIMENSIONS) // 2 for one in vectors.values()), numpy.int64, len(vectors))
        flat = numpy.frombuffer(b"".join(one[DIMENSIONS:] for one in vectors.values()), "<u2")
        self._distinct, inverse = numpy.unique(flat, return_inverse=True)
        self._heads = numpy.full((len(vectors), HEAD_PIECES), len(self._distinct), numpy.int32)
        columns = numpy.arange(HEAD_PIECES)
        self._heads[columns[None, :] < lengths[:, None]] = inverse
        self._decay = numpy.exp(-columns.astype(numpy.float32) / PIECE_DECAY)
        self._holders = self._count_holders(flat, lengths)
        self._pieces = unit(numpy, self._table.vectors(self._distinct))

    def _count_holders(self, flat: Any, lengths: Any) -> Any:
        """In how many beginnings each distinct piece occurs."""
        numpy = self._numpy
        owners = numpy.repeat(numpy.arange(len(lengths)), lengths)
        once = numpy.unique(owners * (1 << 16) + flat.astype(numpy.int64))
        pieces, counts = numpy.unique(once % (1 << 16), return_counts=True)
        holders = numpy.zeros(len(self._distinct), numpy.int64)
        holders[numpy.searchsorted(self._distinct, pieces)] = counts
        return holders
