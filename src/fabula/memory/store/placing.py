"""Free paths: names of a folder are counted on until nobody holds one, here or on a system that ignores case."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.kernel.errors import FabulaError
from fabula.memory.format.paths import SUFFIX, archive_path, normalise
from fabula.memory.format.placement import Placed, folder_for, looks_dated
from fabula.memory.format.slugs import numbered, slug
from fabula.memory.store.values import Occupied
from fabula.storage.git.paths import folded

if TYPE_CHECKING:
    from fabula.memory.store.base import Base, Held
    from fabula.memory.store.moment import Moment
    from fabula.memory.store.values import NewMemory

MOST_OF_A_NAME = 100_000


class Paths:
    """The paths that one change takes, none twice."""

    def __init__(self, base: Base) -> None:
        self._base = base
        self._claimed: set[str] = set()
        self._twins: dict[str, frozenset[str]] = {}
        self._next: dict[tuple[str, str], int] = {}

    def of(self, new: NewMemory, moment: Moment) -> str:
        """Claim the path of a new memory: the one it names, else a free one where it belongs.

        Raises :class:`Occupied` where a file has the path that was named.
        """
        if new.path is not None:
            return self.exactly(normalise(new.path))
        folder = folder_for(Placed(new.type, new.entities, new.workspace, new.tags))
        day = f"{moment.when:%Y%m%d}-" if new.type == "episodic" else ""
        return self.free(folder, new.title, day)

    def exactly(self, path: str) -> str:
        """Claim one path. Raises :class:`Occupied`."""
        if not self._is_free(path):
            held = self._base.file(path)
            message = f"{path}: an earlier operation of this batch has this path" if path in self._claimed else ""
            content_hash = held.reading.content_hash if held is not None and held.reading.is_memory else ""
            raise Occupied(path, content_hash, held.blob if held is not None else "", message)
        self._claimed.add(path)
        return path

    def over(self, there: Held) -> None:
        """Claim the path of a memory that is replaced. Raises :class:`Occupied` where it was claimed before."""
        if there.path in self._claimed:
            message = f"{there.path}: an earlier operation of this batch has this path"
            raise Occupied(there.path, there.reading.content_hash, there.blob, message)
        self._claimed.add(there.path)

    def free(self, folder: str, title: str, day: str = "") -> str:
        """Claim a free path in a folder for a title; ``day`` is what its name begins with (``20260514-``)."""
        name = slug(title)
        start = self._next.get((folder, day + name), 1)
        for ordinal in range(start, start + MOST_OF_A_NAME):
            path = f"{folder}/{day}{numbered(name, ordinal)}{SUFFIX}"
            if self._is_free(path):
                self._claimed.add(path)
                self._next[folder, day + name] = ordinal + 1
                return path
        raise FabulaError("ERR_WRITE_CONFLICT", f"{folder}/{name}: too many memories of one name", "name it otherwise")

    def in_archive(self, path: str, moment: Moment) -> str:
        """Claim where a path goes in the archive: a year of more digits where it went there before."""
        for again in range(MOST_OF_A_NAME):
            there = archive_path(path, moment.year, again)
            if self._is_free(there):
                self._claimed.add(there)
                return there
        raise FabulaError("ERR_WRITE_CONFLICT", f"{path}: it was archived too often in {moment.year}")

    def _is_free(self, path: str) -> bool:
        if path in self._claimed or not self._base.is_free(path):
            return False
        folder, _, name = path.rpartition("/")
        return name not in self._twins_in(folder)

    def _twins_in(self, folder: str) -> frozenset[str]:
        """Return, folded, the names of a folder that are not as a slug is: another name may be one with them."""
        if folder not in self._twins:
            names = self._base.names_in(folder)
            odd = (name for name in names if not name.isascii() or name != name.lower())
            self._twins[folder] = frozenset(map(folded, odd))
        return self._twins[folder]


def day_of(path: str) -> str:
    """Return the day that a file's name begins with, with its hyphen (``20260514-``); empty where there is none."""
    name = path.rpartition("/")[2]
    return name[:9] if looks_dated(name) else ""
