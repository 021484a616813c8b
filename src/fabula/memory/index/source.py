"""What a corpus is, as the index needs to know it: HEAD, its files, what changed, and the bytes in the work tree.

HEAD, folders and files are looked at in process; git is started where something was committed, or is new.
"""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

from fabula.kernel.errors import FabulaError
from fabula.kernel.values import frozen
from fabula.memory.format.bounds import LARGEST
from fabula.memory.format.paths import is_indexed
from fabula.memory.format.vocabulary import BUCKETS
from fabula.storage.git.changes import changed_entries
from fabula.storage.git.heads import git_folders, head_of
from fabula.storage.git.history import files_at
from fabula.storage.git.objects import made
from fabula.storage.git.values import ABSENT, FILE_MODE, PROGRAM_MODE, Entry

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from fabula.storage.git.repo import Repo

FILE_LIMIT = LARGEST
#: A file changed this short a time before it was read may change again without showing: file systems count in ticks.
TICK_NS = 20_000_000


@frozen
class Stamp:
    """What tells that a file was changed. ``mtime_ns`` is 0 where that could not be told, so that it is read again."""

    size: int
    mtime_ns: int
    ctime_ns: int


@frozen
class Seen:
    """What lies at a path: ``missing``, ``not_a_file``, ``unreadable``, or a ``file`` with its bytes."""

    state: str
    data: bytes = b""
    stamp: Stamp | None = None
    note: str = ""


MISSING = Seen("missing")


class Corpus:
    """A work tree. ``repo`` opens its repository when git is needed; ``now_ns`` is the time that file systems write."""

    def __init__(self, root: Path, repo: Callable[[], Repo], now_ns: Callable[[], int]) -> None:
        self.root = root
        self.now_ns = now_ns
        self._open = repo
        self._repo: Repo | None = None
        self._folders = git_folders(root)
        self._real: dict[str, bool] = {}

    @property
    def repo(self) -> Repo:
        """The repository, opened when it is asked for first."""
        if self._repo is None:
            self._repo = self._open()
        return self._repo

    def begin(self) -> None:
        """Begin a pass: what folders were before does not count."""
        self._real.clear()

    def head(self) -> str:
        """Return the commit that HEAD is, empty when there is none yet."""
        found = head_of(*self._folders) if self._folders is not None else None
        return self.repo.head() if found is None else found

    def entries(self, commit: str) -> dict[str, str]:
        """Return path -> blob id of the memories of a commit."""
        if commit == ABSENT:
            return {}
        found = files_at(self.repo.shop.git, commit, *BUCKETS)
        return {path: entry.id for path, entry in found.items() if _is_memory(path, entry)}

    def changes(self, older: str, newer: str) -> dict[str, str | None] | None:
        """Return path -> blob id, ``None`` for what is gone, of what differs; ``None``: the older is no commit here."""
        try:
            found = changed_entries(self.repo.shop.git, older, newer, *BUCKETS)
        except FabulaError:
            return None
        return {
            path: entry.id if entry is not None and _is_memory(path, entry) else None
            for path, entry in found.items()
            if is_indexed(path) and is_storable(path)
        }

    def look(self, path: str) -> Seen:
        """Read what lies at a path; links are not followed."""
        if not self._is_real(path.rpartition("/")[0]):
            return MISSING
        try:
            handle = os.open(self.root / path, os.O_RDONLY | _FLAGS)
        except FileNotFoundError:
            return MISSING
        except OSError as error:
            return self._unopened(path, error)
        try:
            found = os.fstat(handle)
            if not stat.S_ISREG(found.st_mode):
                return MISSING if stat.S_ISDIR(found.st_mode) else Seen("not_a_file", note="is no plain file")
            stamp = self.stamp_of(found)
            if found.st_size > FILE_LIMIT:
                return Seen("unreadable", b"", stamp, f"has more than {FILE_LIMIT} bytes")
            return Seen("file", _read(handle, found.st_size), stamp)
        except OSError as error:
            return Seen("unreadable", b"", None, error.strerror or str(error))
        finally:
            os.close(handle)

    def stamp_of(self, found: os.stat_result) -> Stamp:
        """Return the stamp of a file that was just now looked at."""
        settled = found.st_ctime_ns < self.now_ns() - TICK_NS
        return Stamp(found.st_size, found.st_mtime_ns if settled else 0, found.st_ctime_ns)

    def is_clean(self, path: str, data: bytes, blob: str) -> bool:
        """Say whether git makes a blob of a file's bytes, its filters included."""
        return self.repo.shop.filters().is_blob(path, data, blob)

    def blob_id(self, data: bytes, algorithm: str) -> str:
        """Return the id of the blob that some bytes are."""
        return made("blob", data, algorithm).id

    def blob(self, blob: str) -> bytes | None:
        """Return the bytes of a blob, ``None`` where the repository does not hold it."""
        found = self.repo.shop.reader.get(blob)
        return found[2] if found is not None and found[1] == "blob" else None

    def left_out(self, paths: Iterable[str]) -> set[str]:
        """Return those of the paths that git keeps out of the work tree on purpose (sparse checkouts)."""
        index = self.repo.shop.indexes.read()
        staged = ((path, index.find(path)) for path in paths)
        return {path for path, found in staged if found is not None and found.skipped}

    def ignored(self, paths: Iterable[str]) -> set[str]:
        """Return those of the paths that git is told to ignore."""
        names = b"".join(os.fsencode(path) + b"\0" for path in paths)
        if not names:
            return set()
        out = self.repo.shop.git.run("check-ignore", "-z", "--stdin", stdin=names, allowed=(0, 1)).out
        return {os.fsdecode(name) for name in out.split(b"\0") if name}

    def ignoring(self) -> str:
        """Return what tells that the corpus's own rules of what git ignores have changed."""
        files = [self.root / ".gitignore"]
        if self._folders is not None:
            files.append(self._folders[1] / "info" / "exclude")
        return " ".join(_outline(file) for file in files)

    def _is_real(self, folder: str) -> bool:
        """Say whether no link is on the way to a folder: what lies behind one is not of this corpus."""
        known = self._real.get(folder)
        if known is None:
            above, _, _ = folder.rpartition("/")
            known = not (self.root / folder).is_symlink() and (not above or self._is_real(above))
            self._real[folder] = known
        return known

    def _unopened(self, path: str, error: OSError) -> Seen:
        if isinstance(error, NotADirectoryError):
            return MISSING
        try:
            found = os.lstat(self.root / path)
        except OSError:
            return Seen("unreadable", note=error.strerror or str(error))
        if stat.S_ISREG(found.st_mode):
            return Seen("unreadable", b"", self.stamp_of(found), error.strerror or str(error))
        return Seen("not_a_file", b"", self.stamp_of(found), "is a link, or no plain file")


_FLAGS = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0)
_PLAIN = frozenset({FILE_MODE, PROGRAM_MODE})


def is_storable(path: str) -> bool:
    """Say whether a path is text; another one cannot be kept in a database, nor written in a link."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True


def _is_memory(path: str, entry: Entry) -> bool:
    return entry.mode in _PLAIN and is_indexed(path) and is_storable(path)


def _read(handle: int, size: int) -> bytes:
    pieces = []
    while piece := os.read(handle, size + 1):
        pieces.append(piece)
        if len(piece) == size + 1:
            size = FILE_LIMIT  # it grew while it was read
    return b"".join(pieces)


def _outline(path: Path) -> str:
    try:
        found = os.stat(path)
    except OSError:
        return "-"
    return f"{found.st_size}:{found.st_mtime_ns}"
