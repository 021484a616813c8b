"""What of the work tree may have changed since it was last looked at, found without reading a file.

A folder whose time of change is the known one has the names it had; in another one names and files are compared. A file
that was written over in place shows by its own stamp alone: those of dirty and broken files are looked at always, those
of all others a share at a time, so that a look costs the same however large the corpus is.
"""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING, Any, Final

from fabula.kernel.values import define, field
from fabula.memory.format.paths import GENERATED, SUFFIX
from fabula.memory.format.vocabulary import BUCKETS
from fabula.memory.index.asking import rows_of
from fabula.memory.index.schema import BROKEN, GONE
from fabula.memory.index.source import TICK_NS, is_storable

if TYPE_CHECKING:
    from collections.abc import Iterable

    import apsw

    from fabula.memory.index.source import Corpus

SHARE: Final = 4_096  # files whose stamps one look compares
ABSENT_FOLDER: Final = -1  # in ``folders.mtime_ns``: a folder of the tree that is not in the work tree
_MIXER: Final = 2_654_435_761  # Knuth's multiplicative hash: nearby moments give distant shares


@define
class Looked:
    """What is to be read: paths; and what folders look like now, so far as that is news."""

    paths: set[str] = field(default_factory=set)
    folders: dict[str, int] = field(default_factory=dict)
    unnamed: int = 0  # files whose names are no text

    @property
    def is_nothing(self) -> bool:
        """Whether all is as it was."""
        return not (self.paths or self.folders)


#: (number of shares, which of them): every file, and none but those that are watched.
ALL: Final = (1, 0)
WATCHED: Final = (1, 1)


def look_around(connection: apsw.Connection, corpus: Corpus, share: tuple[int, int] = ALL) -> Looked:
    """Compare the work tree with what is known of it; of files the stamps of a share."""
    return _Look(connection, corpus).around(share)


def share_at(files: int, now_ms: int) -> tuple[int, int]:
    """Return the share of a corpus of so many files whose turn it is."""
    shares = max(1, -(-files // SHARE))
    return shares, (now_ms * _MIXER >> 16) % shares


class _Look:
    def __init__(self, connection: apsw.Connection, corpus: Corpus) -> None:
        self._connection = connection
        self._corpus = corpus
        self._root = os.fspath(corpus.root)
        self._found = Looked()
        self._known: dict[str, tuple[int, int]] = {}
        self._scanned: set[str] = set()

    def around(self, share: tuple[int, int]) -> Looked:
        rows = rows_of(self._connection, "select path, id, mtime_ns from folders")
        self._known = {path: (folder_id, mtime) for path, folder_id, mtime in rows}
        for folder in (*self._known, *(bucket for bucket in BUCKETS if bucket not in self._known)):
            self._folder(folder)
        self._files(share)
        return self._found

    def _folder(self, folder: str) -> None:
        """Look at a folder, and into it when its names may be others than before."""
        if folder in self._scanned:
            return
        folder_id, known = self._known.get(folder, (0, ABSENT_FOLDER))
        try:
            found = os.stat(f"{self._root}/{folder}", follow_symlinks=False)
        except OSError:
            found = None
        if found is None or not stat.S_ISDIR(found.st_mode) or self._is_foreign(folder):
            if known != ABSENT_FOLDER:
                self._found.folders[folder] = ABSENT_FOLDER
                self._compare(folder_id, {})
            return
        if known and found.st_mtime_ns == known:
            return
        settled = found.st_ctime_ns < self._corpus.now_ns() - TICK_NS
        self._found.folders[folder] = found.st_mtime_ns if settled else 0
        self._scan(folder, folder_id)

    def _scan(self, folder: str, folder_id: int) -> None:
        self._scanned.add(folder)
        files: dict[str, os.DirEntry[str]] = {}
        inner: list[str] = []
        try:
            with os.scandir(f"{self._root}/{folder}") as entries:
                for entry in entries:
                    path = f"{folder}/{entry.name}"
                    if entry.is_dir(follow_symlinks=False):
                        inner.append(path)
                    elif entry.name.endswith(SUFFIX) and entry.name not in GENERATED:
                        files[path] = entry
        except OSError:
            self._found.folders[folder] = 0
        self._compare(folder_id, files)
        for path in inner:
            if path not in self._known and self._is_named(path):
                self._folder(path)

    def _compare(self, folder_id: int, files: dict[str, os.DirEntry[str]]) -> None:
        """Compare the files of a folder with those that were known there."""
        rows = rows_of(
            self._connection,
            "select path, size, mtime_ns, ctime_ns, state from places where folder_id = ?",
            (folder_id,),
        )
        known = {path: (stamp, state) for path, *stamp, state in rows} if folder_id else {}
        for path, entry in files.items():
            if path not in known:
                if self._is_named(path):
                    self._found.paths.add(path)
            elif self._differs(known[path][0], _stat_of(entry)):
                self._found.paths.add(path)
        for path, (stamp, state) in known.items():
            if path not in files and state != GONE and stamp[0] is not None:
                self._found.paths.add(path)

    def _files(self, share: tuple[int, int]) -> None:
        """Compare the stamps of files: of those that are watched (unsettled, broken, dirty), and of one share."""
        columns = "select path, size, mtime_ns, ctime_ns from places"
        watched = (
            f"{columns} where mtime_ns = 0 union all {columns} where state = {BROKEN} "
            f"union all {columns} where id in (select id from files where dirty = 1)"
        )
        self._stamps(self._connection.execute(watched))
        if share == ALL:
            self._stamps(self._connection.execute(f"{columns} where size is not null"))
        elif share != WATCHED:
            self._stamps(self._connection.execute(f"{columns} where size is not null and id % ? = ?", share))

    def _stamps(self, rows: Iterable[tuple[Any, ...]]) -> None:
        """Compare the stamps of some files. One loop without calls: it may run for every file of a corpus."""
        prefix, look, changed = f"{self._root}/", os.stat, self._found.paths
        for path, size, mtime_ns, ctime_ns in rows:
            try:
                found = look(prefix + path, follow_symlinks=False)
            except OSError:
                changed.add(path)
                continue
            if found.st_mtime_ns != mtime_ns or found.st_ctime_ns != ctime_ns or found.st_size != size:
                changed.add(path)

    @staticmethod
    def _differs(stamp: list[int | None], found: os.stat_result | None) -> bool:
        return found is None or stamp != [found.st_size, found.st_mtime_ns, found.st_ctime_ns]

    def _is_foreign(self, folder: str) -> bool:
        """Say whether a folder is a repository of its own: git does not look into it either."""
        return os.path.lexists(f"{self._root}/{folder}/.git")

    def _is_named(self, path: str) -> bool:
        """Say whether a path is text; count it where it is none."""
        if is_storable(path):
            return True
        self._found.unnamed += 1
        return False


def _stat_of(entry: os.DirEntry[str]) -> os.stat_result | None:
    try:
        return entry.stat(follow_symlinks=False)
    except OSError:
        return None
