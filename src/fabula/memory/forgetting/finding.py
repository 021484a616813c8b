"""Finding everything in a repository that holds, mirrors, quotes or names what is to be forgotten."""

from __future__ import annotations

from shlex import quote
from typing import TYPE_CHECKING

from fabula.kernel.errors import FabulaError
from fabula.memory.forgetting.values import Found
from fabula.memory.forgetting.words import Words, long_enough, telling
from fabula.memory.format.edit import remove_link, remove_meta
from fabula.memory.format.paths import is_indexed, normalise, target_of
from fabula.memory.format.reader import read
from fabula.memory.format.vocabulary import OURS, PREFIX, relation_of
from fabula.memory.merging.texts import ACCOUNT, is_log
from fabula.memory.past.facts import Facts
from fabula.memory.past.tracks import mirrors, moves_among
from fabula.storage.git.logrows import log_rows
from fabula.storage.git.values import ABSENT

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from fabula.memory.forgetting.values import Target
    from fabula.storage.git.logrows import LogRow
    from fabula.storage.git.reader import Reader
    from fabula.storage.git.repo import Repo

LEAST = 3  # characters of a text


def everything(repo: Repo, further: Iterable[str] = ()) -> list[LogRow]:
    """Return the log of all that refs, and ``further`` commits, lead to; children come before parents."""
    names = "".join(f"{name}\n" for name in further).encode()
    return list(log_rows(repo.shop.git, "-m", "--topo-order", "--all", "--stdin", stdin=names))


def find(repo: Repo, target: Target, rows: Sequence[LogRow]) -> Found:
    """Return where it stands. Raises ``ERR_NOT_FOUND`` when it stands nowhere, ``ERR_USAGE`` for a text too short."""
    reader = repo.shop.reader
    lay: dict[str, set[str]] = {}
    for row in rows:
        for touch in row.touches:
            for blob in filter(None, (touch.old, touch.new)):
                lay.setdefault(blob, set()).add(touch.path)
    paths = _paths(target, rows, Facts(reader)) if target.paths else frozenset()
    contents = _Contents(reader, lay)
    if target.text:
        text = Words([target.text])
        blobs = {blob for blob in lay if contents.is_memory(blob) and text.are_in(contents.data(blob))}
        needles = [target.text]
    else:
        blobs = {blob for blob, places in lay.items() if not places.isdisjoint(paths)}
        needles = contents.telling(blobs, paths)
    words = Words(needles if target.text else long_enough(needles))
    edited = contents.edited(blobs, paths, words)
    touched = {row.commit for row in rows if _touches(row, paths, blobs | edited.keys())}
    touched |= {row.commit for row in rows if words.are_in(row.message.encode())}
    if not touched:
        raise FabulaError(
            "ERR_NOT_FOUND", f"nothing in the history of {repo.shop.place.root} holds {target.text!r}",
            f"fabula memory search {quote(target.text)}",
        )  # fmt: skip
    gone = paths or _gone(lay, blobs)
    return Found(target, frozenset(gone), frozenset(blobs), edited, tuple(needles), frozenset(touched))


def _gone(lay: dict[str, set[str]], blobs: Collection[str]) -> set[str]:
    """Return the paths of which no version stays."""
    hit = {path for blob in blobs for path in lay[blob]}
    kept = {path for blob, places in lay.items() if blob not in blobs for path in places}
    return hit - kept


def _paths(target: Target, rows: Sequence[LogRow], facts: Facts) -> frozenset[str]:
    """Return every path that the named memories ever had: given, in the archive, before and after renames."""
    known = {touch.path for row in rows for touch in row.touches}
    paths = set(map(normalise, target.paths))
    missing = sorted(paths - known)
    if missing:
        raise FabulaError(
            "ERR_NOT_FOUND", f"{', '.join(missing)}: no commit has such a file", "fabula memory list",
            "fabula memory forget --text TEXT",
        )  # fmt: skip
    while True:
        more = {path for path in known if any(mirrors(path, one) for one in paths)}
        more |= {path for row in rows for path in _renamed(row, paths | more, facts)}
        if more <= paths:
            return frozenset(paths)
        paths |= more


def _renamed(row: LogRow, paths: Collection[str], facts: Facts) -> set[str]:
    """Return what a commit renamed one of some paths to, or from."""
    gone = {touch.path: touch.old for touch in row.touches if touch.new == ABSENT}
    came = {touch.path: touch.new for touch in row.touches if touch.old == ABSENT}
    if not gone or not came or not any(path in paths for path in (*gone, *came)):
        return set()
    moves = moves_among(gone, came, lambda path: facts.name(gone[path]), lambda path: facts.name(came[path]))
    return {path for pair in moves.items() if any(one in paths for one in pair) for path in pair}


def _touches(row: LogRow, paths: Collection[str], blobs: Collection[str]) -> bool:
    return any(touch.path in paths or touch.old in blobs or touch.new in blobs for touch in row.touches)


class _Contents:
    """The blobs of a repository, read once; ``lay``: blob -> where it lies or lay."""

    def __init__(self, reader: Reader, lay: dict[str, set[str]]) -> None:
        self._lay = lay
        found = reader.each(lay)
        self._data = {
            blob: thing[2] for blob, thing in zip(lay, found, strict=True) if thing is not None and thing[1] == "blob"
        }

    def data(self, blob: str) -> bytes:
        """Return the bytes of a blob."""
        return self._data.get(blob, b"")

    def is_memory(self, blob: str) -> bool:
        """Say whether a blob lies where memories do."""
        return any(is_indexed(path) for path in self._lay[blob])

    def telling(self, blobs: Iterable[str], paths: Iterable[str]) -> list[str]:
        """Return the texts that give some versions away."""
        readings = [read(self.data(blob)) for blob in sorted(blobs)]
        memories = [reading for reading in readings if reading.is_memory]
        return telling([one.title for one in memories], [one.content.claim for one in memories], sorted(paths))

    def edited(self, blobs: Collection[str], paths: Collection[str], words: Words) -> dict[str, bytes]:
        """Return blob -> its bytes without what leads to or quotes the forgotten, for those that change by it."""
        names = [path.encode() for path in paths]
        found = {}
        for blob, data in self._data.items():
            if blob in blobs or not (any(name in data for name in names) or words.are_in(data)):
                continue
            new = self._without(blob, data, paths, words)
            if new != data:
                found[blob] = new
        return found

    def _without(self, blob: str, data: bytes, paths: Collection[str], words: Words) -> bytes:
        places = self._lay[blob]
        if any(is_indexed(path) for path in places):
            return without_links(data, paths)
        if any(is_log(path) or path == ACCOUNT for path in places):
            return Words([*words.texts, *paths]).lines_without(data)
        return Words([*words.texts, *paths]).out_of(data)


def without_links(data: bytes, paths: Collection[str]) -> bytes:
    """Return a memory without its relations to some paths; its article stays as it is."""
    reading = read(data)
    try:
        for link in reading.links:
            relation = relation_of(link.rel)
            if relation is not None and target_of(link.href) in paths:
                data = remove_link(data, relation, link.href)
        for name in (f"{PREFIX}superseded-by", f"{OURS}origin"):
            for meta in reading.metas:
                if meta.name == name and target_of(meta.content) in paths:
                    data = remove_meta(data, name, meta.content)
    except FabulaError:  # it has no form that can be edited: it is named as one that still names it
        return data
    return data
