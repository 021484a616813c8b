"""What says nearly the same: the store's question to the vectors, asked before a batch is written. It only proposes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from fabula.kernel.errors import FabulaError
from fabula.memory.retrieval.meaning import VectorArm
from fabula.memory.retrieval.packed import between, estimates, packed, pieces
from fabula.memory.retrieval.pieces import pieces_of
from fabula.memory.standing.constants import MERGE_ABOVE
from fabula.memory.store.values import Similar
from fabula.models.embedding import Unavailable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fabula.memory.index.memory_index import MemoryIndex
    from fabula.memory.store.values import Text
    from fabula.models.embedding import Embedder

NAMED: Final = 5  # of the nearest are named
MARGIN: Final = 0.2  # by which the signs of two vectors may misjudge their cosine


class Nearness:
    """Compares texts with the active memories of an index, tasks apart, and with the texts before each."""

    def __init__(self, index: MemoryIndex, embedder: Embedder | Unavailable) -> None:
        self._index = index
        self._embedder = embedder

    def near(self, texts: Sequence[Text]) -> list[list[Similar]]:
        """Return what is near each text, the nearest first. Raises ``ERR_EMBEDDER``."""
        embedder = self._embedder
        if isinstance(embedder, Unavailable):
            raise FabulaError("ERR_EMBEDDER", embedder.reason, *filter(None, [embedder.remedy]))
        arm = VectorArm(self._index, embedder)
        arm.prepare()
        live = dict(self._index.ask("select id, path from files where archived = 0 and type <> 'task'"))
        claims = dict(self._index.ask("select id, claim from files where archived = 0 and type <> 'task'"))
        found = [self._stored(arm, text, live, claims) for text in texts]
        for at, earlier in enumerate(_among(embedder, texts)):
            found[at] = sorted(found[at] + earlier, key=lambda one: -one.similarity)[:NAMED]
        return found

    @staticmethod
    def _stored(arm: VectorArm, text: Text, live: dict[int, str], claims: dict[int, str]) -> list[Similar]:
        said = arm.ask(pieces_of(text.title, text.claim, "")[0], live, "near")
        near = sorted(said.scores.items(), key=lambda pair: (-pair[1], live[pair[0]]))
        return [Similar(live[one], None, claims[one], round(score, 4)) for one, score in near if score > MERGE_ABOVE]


def _among(embedder: Embedder, texts: Sequence[Text]) -> list[list[Similar]]:
    """Return for each text the earlier ones that it is near to."""
    vectors = embedder.documents([pieces_of(text.title, text.claim, "")[0] for text in texts])
    size = max(map(len, vectors), default=0)
    blobs = [packed([vector]) for vector in vectors]
    bits = [next(pieces(blob, size), (0, 0))[0] if blob else None for blob in blobs]
    about = estimates(size) if size else []  # no text has a vector: nothing is compared
    found: list[list[Similar]] = []
    for at, mine in enumerate(bits):
        near: list[Similar] = []
        for before, other in enumerate(bits[:at]):
            if mine is None or other is None or about[(mine ^ other).bit_count()] < MERGE_ABOVE - MARGIN:
                continue
            score = between(blobs[at], blobs[before], size)
            if score > MERGE_ABOVE:
                near.append(Similar(None, before, texts[before].claim, round(score, 4)))
        found.append(near)
    return found
