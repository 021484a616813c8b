"""The vector arm: memories that mean what is asked, in whatever words. Vectors are made when they are first missed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final, Protocol

from fabula.kernel.errors import FabulaError
from fabula.kernel.values import define, field
from fabula.memory.retrieval.arena import Arena
from fabula.memory.retrieval.packed import between, estimates, packed, pieces
from fabula.memory.retrieval.pieces import pieces_of
from fabula.models.embedding import Unavailable

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Hashable, Iterable

    import apsw

    from fabula.models.embedding import Embedder

#: How texts become pieces is part of a space: another cut is another space.
CUT: Final = "cut1"
SHORTLIST: Final = 128  # pieces whose components are compared, of those nearest by their signs
FULL_COVERAGE: Final = 0.95  # of the memories in scope must have vectors; below it the answer says so
CLOSE: Final = 0.75  # likeness from which two memories are compared by their components
SCOPES: Final = 8  # whose pieces are remembered side by side
FEW: Final = 200  # vectors that are looked up one by one
LEAST_COVERAGE: Final = 0.5  # below it vectors have no say: a few would stand before many that nobody asked


class Index(Protocol):
    """What the retrieval needs of the index (see ``memory.index``)."""

    @property
    def connection(self) -> apsw.Connection:
        """Its database, for reading."""
        ...

    def stamp(self) -> Hashable:
        """Return what changes with every change of the index."""
        ...

    def keep_vectors(self, rows: Iterable[tuple[str, bytes, bytes]]) -> object:
        """Keep vectors: (space, hash of the text, vector)."""
        ...


@define
class Meant:
    """What vectors say: cosines (-1 to 1) of the nearest memories; ``why_not``: why nothing or not everything spoke."""

    scores: dict[int, float] = field(default_factory=dict)
    why_not: str = ""


class VectorArm:
    """Compares questions with the vectors of memories; remembers what it read until the index changes."""

    def __init__(self, index: Index, embedder: Embedder | Unavailable) -> None:
        self._index = index
        self._embedder = embedder
        self._stamp: Hashable = None
        self._hashes: dict[int, bytes] = {}  # of every memory, by id
        self._blobs: dict[bytes, bytes] = {}  # vectors by the hash of their text; b"": it has none
        self._arenas: dict[Hashable, Arena] = {}
        self._dimension = 0  # of the vectors that were compared last

    @property
    def space(self) -> str:
        """The name of the space in which vectors are kept; "" without an embedder."""
        return "" if isinstance(self._embedder, Unavailable) else f"{self._embedder.space}/{CUT}"

    def ask(self, text: str, allowed: Collection[int], key: Hashable) -> Meant:
        """Return the allowed memories that are nearest to a text. ``key`` names the scope that allowed them.

        A model that fails, or is not there, is a reason, never an error.
        """
        embedder = self._embedder
        if isinstance(embedder, Unavailable):
            return Meant(why_not=embedder.reason)
        try:
            query = embedder.query(text)
            if not query:
                return Meant(why_not="the model knows no word of the question")
            arena = self._arena(allowed, key, len(query), embedder.most_at_once)
        except FabulaError as error:
            return Meant(why_not=error.message)
        have = len(arena.texts)
        covered = have / len(allowed) if allowed else 1.0
        why_not = f"{have} of {len(allowed)} memories have vectors" if covered < FULL_COVERAGE else ""
        if covered < LEAST_COVERAGE:
            return Meant(why_not=why_not)
        self._dimension = arena.dimension
        return Meant(arena.nearest(query, SHORTLIST), why_not)

    def prepare(self, most: int | None = None) -> int:
        """Make vectors that are missing, at most so many; return how many were made. Raises ``ERR_EMBEDDER``."""
        if isinstance(self._embedder, Unavailable):
            return 0
        self._read()
        made = 0
        while most is None or made < most:
            batch = 512 if most is None else min(512, most - made)
            fresh = self._make(self._hashes, batch)
            if not fresh:
                break
            made += fresh
        return made

    def likeness(self, memories: Iterable[int]) -> Callable[[int, int], float]:
        """Return how alike some memories are: the cosine of title and claim, by the signs alone where it is small.

        0 where one has no vector.
        """
        blobs = {one: self._blobs.get(self._hashes.get(one, b""), b"") for one in memories}
        size = self._dimension
        firsts = {one: found[0] for one, blob in blobs.items() if size and (found := next(pieces(blob, size), None))}

        known: dict[tuple[int, int], float] = {}
        about_by_bits = estimates(size) if size else []

        def alike(left: int, right: int) -> float:
            if left not in firsts or right not in firsts:
                return 0.0
            about = about_by_bits[(firsts[left] ^ firsts[right]).bit_count()]
            if about < CLOSE:
                return about
            pair = (left, right) if left < right else (right, left)
            exact = known.get(pair)
            if exact is None:
                exact = known[pair] = between(blobs[left], blobs[right], size)
            return exact

        return alike

    # ── comparing ────────────────────────────────────────────────────
    def _arena(self, allowed: Collection[int], key: Hashable, dimension: int, most: int) -> Arena:
        """Return the arena of a scope, brought up to date by what changed; at most so many vectors are made for it."""
        self._read()
        arena = self._arenas.get(key)
        if arena is None or arena.dimension != dimension:
            if len(self._arenas) >= SCOPES:
                self._arenas.clear()
            arena = self._arenas[key] = Arena(dimension)
        if arena.stamp != self._stamp or len(arena.texts) < len(allowed):
            self._make(allowed, most)
        if arena.stamp != self._stamp:
            wanted = {one: text for one in allowed if (text := self._hashes[one]) in self._blobs}
            arena.become(wanted, self._blobs)
            arena.stamp = self._stamp
        return arena

    # ── keeping ──────────────────────────────────────────────────────
    def _read(self) -> None:
        """Bring what is remembered up to date: texts of all memories, and vectors of those that are new."""
        stamp = self._index.stamp()
        if stamp == self._stamp:
            return
        connection = self._index.connection
        self._hashes = dict(connection.execute("select id, text_hash from files"))
        wanted = set(self._hashes.values())
        lacking = wanted - self._blobs.keys()
        if len(self._blobs) > 2 * len(wanted):
            self._blobs = {key: self._blobs[key] for key in wanted & self._blobs.keys()}
        where = "space = ?"
        values: list[str | bytes] = [self.space]
        if len(lacking) <= FEW:
            where += f" and hash in ({','.join('?' * len(lacking))})"
            values += sorted(lacking)
        rows = connection.execute(f"select hash, vector from vectors where {where}", values)
        self._blobs.update(rows)
        self._stamp = stamp

    def _make(self, allowed: Iterable[int], most: int) -> int:
        """Embed the newest of some memories that lack a vector; return how many."""
        lacking = [one for one in allowed if self._hashes[one] not in self._blobs]
        if not lacking or isinstance(self._embedder, Unavailable):
            return 0
        rows = self._index.connection.execute(
            "select f.text_hash, f.title, f.claim, x.body from files f join texts x on x.file_id = f.id"
            " where f.id in (select value from json_each(?)) order by f.updated desc, f.path limit ?",
            (json.dumps(lacking), most),
        )
        texts = {key: pieces_of(title, claim, body) for key, title, claim, body in rows}
        vectors = iter(self._embedder.documents([piece for one in texts.values() for piece in one]))
        made = {key: packed([next(vectors) for _ in one]) for key, one in texts.items()}
        self._blobs.update(made)
        self._index.keep_vectors((self.space, key, blob) for key, blob in made.items())
        self._stamp = (self._stamp, len(self._blobs))  # arenas are old; and the index is looked at anew
        return len(made)
