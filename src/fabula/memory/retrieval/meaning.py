"""The vector arm: memories that mean what is asked, in whatever words. Vectors are made when they are first missed."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Final, Protocol

from fabula.kernel.errors import FabulaError
from fabula.kernel.values import define, field
from fabula.memory.retrieval.packed import Probe, between, estimated, packed, pieces
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


@define
class _Arena:
    """The pieces of some memories side by side: whose each is, its signs, where it begins in the owner's blob."""

    owners: list[int] = field(default_factory=list)
    signs: list[int] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    have: int = 0  # memories that were embedded, with what result ever


class VectorArm:
    """Compares questions with the vectors of memories; remembers what it read until the index changes."""

    def __init__(self, index: Index, embedder: Embedder | Unavailable) -> None:
        self._index = index
        self._embedder = embedder
        self._stamp: Hashable = None
        self._hashes: dict[int, bytes] = {}  # of every memory, by id
        self._blobs: dict[bytes, bytes] = {}  # vectors by the hash of their text; b"": it has none
        self._arenas: dict[Hashable, _Arena] = {}
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
            self._read()
            if key not in self._arenas and self._make(allowed, embedder.most_at_once):
                self._arenas.clear()
        except FabulaError as error:
            return Meant(why_not=error.message)
        if not query:
            return Meant(why_not="the model knows no word of the question")
        arena = self._arena(allowed, key, len(query))
        if arena.have < len(allowed):
            self._arenas.clear()  # the next question makes more vectors
        covered = arena.have / len(allowed) if allowed else 1.0
        why_not = f"{arena.have} of {len(allowed)} memories have vectors" if covered < FULL_COVERAGE else ""
        if covered < LEAST_COVERAGE:
            return Meant(why_not=why_not)
        return Meant(self._nearest(query, arena), why_not)

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
        self._arenas.clear()
        return made

    def likeness(self, memories: Iterable[int]) -> Callable[[int, int], float]:
        """Return how alike some memories are: the cosine of title and claim, by the signs alone where it is small.

        0 where one has no vector.
        """
        blobs = {one: self._blobs.get(self._hashes.get(one, b""), b"") for one in memories}
        size = self._dimension
        firsts = {one: found[0] for one, blob in blobs.items() if size and (found := next(pieces(blob, size), None))}

        known: dict[tuple[int, int], float] = {}

        def alike(left: int, right: int) -> float:
            if left not in firsts or right not in firsts:
                return 0.0
            about = estimated(firsts[left], firsts[right], size)
            if about < CLOSE:
                return about
            pair = (left, right) if left < right else (right, left)
            exact = known.get(pair)
            if exact is None:
                exact = known[pair] = between(blobs[left], blobs[right], size)
            return exact

        return alike

    # ── comparing ────────────────────────────────────────────────────
    def _nearest(self, query: bytes, arena: _Arena) -> dict[int, float]:
        self._dimension = len(query)
        probe = Probe(query)
        far = list(map(int.bit_count, map(probe.signs.__xor__, arena.signs)))
        limit = _limit(far, SHORTLIST)
        found: dict[int, float] = {}
        for at in [at for at, bits in enumerate(far) if bits <= limit]:
            owner = arena.owners[at]
            close = probe.cosine(self._blobs[self._hashes[owner]], arena.starts[at])
            if close > found.get(owner, -2.0):
                found[owner] = close
        return found

    def _arena(self, allowed: Collection[int], key: Hashable, dimension: int) -> _Arena:
        arena = self._arenas.get(key)
        if arena is None:
            arena = _Arena()
            for owner in sorted(allowed):
                blob = self._blobs.get(self._hashes[owner])
                arena.have += blob is not None
                for bits, start in pieces(blob or b"", dimension):
                    arena.owners.append(owner)
                    arena.signs.append(bits)
                    arena.starts.append(start)
            if len(self._arenas) >= 8:
                self._arenas.clear()
            self._arenas[key] = arena
        return arena

    # ── keeping ──────────────────────────────────────────────────────
    def _read(self) -> None:
        """Bring what is remembered up to date."""
        stamp = self._index.stamp()
        if stamp == self._stamp:
            return
        self._arenas.clear()
        self._hashes = dict(self._index.connection.execute("select id, text_hash from files"))
        wanted = set(self._hashes.values())
        self._blobs = {key: blob for key, blob in self._blobs.items() if key in wanted}
        rows = self._index.connection.execute("select hash, vector from vectors where space = ?", (self.space,))
        self._blobs.update((key, blob) for key, blob in rows if key in wanted)
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
        self._stamp = self._index.stamp()
        return len(made)


def _limit(far: list[int], enough: int) -> int:
    """Return within how many differing bits at least ``enough`` lie."""
    number = 0
    for bits, many in sorted(Counter(far).items()):
        number += many
        if number >= enough:
            return bits
    return max(far, default=0)
