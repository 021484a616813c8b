"""What the state plane logs: one entry a line of JSON, in local logs and in those that machines exchange. Pure.

An entry has an ``id`` that is unique over all machines (it begins with the replica that wrote it), a time in ms, a kind
and a path. Kinds are an open list: one that is not known counts for nothing and stays.

========================  ==============================================================================
``read``                  somebody opened the memory
``positive, negative``    word of how it served
``moved``                 the file went from ``path`` to ``to``
``wrote, corrected``      the file at ``path`` is another memory from here on
``corroborated``          a guessed edge ``path relation to`` was seen (or ``verdict``) again
``corroborated_name``     the entity ``path`` (``type:alias``) was taken for ``to``
``handed``                a pack with ``paths`` was given to ``reader`` (local: never exported)
========================  ==============================================================================

Any other kind with a ``session`` tells what a session did with a memory.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from fabula.kernel.canonical import canonical_json
from fabula.kernel.clock import MILLISECOND_LIMIT
from fabula.kernel.values import as_dict, frozen
from fabula.memory.standing.reinforcement import key_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

READ: Final = "read"
POSITIVE: Final = "positive"
NEGATIVE: Final = "negative"
MOVED: Final = "moved"
WROTE: Final = "wrote"
CORRECTED: Final = "corrected"
CORROBORATED: Final = "corroborated"
CORROBORATED_NAME: Final = "corroborated_name"
HANDED: Final = "handed"

SIGNAL_OF: Final = {READ: "neutral", POSITIVE: "positive", NEGATIVE: "negative"}
BEGINNING: Final = frozenset((WROTE, CORRECTED))  # kinds after which a path names another memory
LOCAL: Final = frozenset((HANDED,))  # kinds that stay on this machine

TEXT_LIMIT: Final = 1_024  # characters of any one text
PATHS_LIMIT: Final = 256


@frozen
class Entry:
    """One line of a log."""

    id: str
    at: int
    kind: str
    path: str = ""
    to: str = ""
    session: str = ""
    relation: str = ""
    verdict: str = ""
    reader: str = ""
    query: str = ""
    paths: tuple[str, ...] = ()

    @property
    def replica(self) -> str:
        """The machine that wrote it."""
        return self.id.partition("-")[0]

    @property
    def order(self) -> tuple[int, str]:
        """Where it stands among others."""
        return self.at, self.id


def encode(entry: Entry) -> bytes:
    """Write an entry as one line: same entry, same bytes."""
    said = {name: value for name, value in as_dict(entry).items() if value not in ("", ())}
    return canonical_json(said | {"at": entry.at}) + b"\n"


def decode(line: bytes) -> Entry | None:
    """Read one line; ``None`` for what is no entry. A text that is too long is no entry."""
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(row, dict):
        return None
    at = row.get("at")
    if not isinstance(at, int) or isinstance(at, bool) or not 0 <= at < MILLISECOND_LIMIT:
        return None
    texts = {name: value for name, value in row.items() if name in _TEXTS}
    for text in texts.values():
        if type(text) is not str or len(text) > TEXT_LIMIT:
            return None
    if not texts.get("id") or not texts.get("kind"):
        return None
    for name in ("path", "to"):
        if name in texts:
            texts[name] = key_of(texts[name])
    paths = row.get("paths")
    return Entry(at=at, paths=_paths(paths) if paths else (), **texts)


_TEXTS: Final = frozenset(("id", "kind", "path", "to", "session", "relation", "verdict", "reader", "query"))


def _paths(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list):
        return ()
    return tuple(key_of(one) for one in value[:PATHS_LIMIT] if isinstance(one, str) and len(one) <= TEXT_LIMIT)


def entries_in(data: bytes) -> Iterator[Entry]:
    """Yield the entries of whole lines; what is none is passed over."""
    for line in data.split(b"\n"):
        if line and (entry := decode(line)) is not None:
            yield entry


def whole_lines(data: bytes) -> int:
    """Return how many bytes end with a line's end: what stands behind them is torn, or still being written."""
    return data.rfind(b"\n") + 1


def without(data: bytes, paths: Iterable[str], text: str = "") -> bytes:
    """Return a log without the lines that name some paths, or were asked with a text; others stay as they are."""
    gone = {key_of(path) for path in paths}
    words = " ".join(text.split()).casefold()
    return b"".join(line for line in data.splitlines(keepends=True) if not _names(line, gone, words))


def _names(line: bytes, gone: set[str], words: str) -> bool:
    entry = decode(line)
    if entry is None:
        return False
    return not gone.isdisjoint((entry.path, entry.to, *entry.paths)) or bool(words and words in entry.query.casefold())
