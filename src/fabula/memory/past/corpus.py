"""The corpus as it was: at a commit, or at a day or time."""

from __future__ import annotations

from datetime import timedelta
from shlex import quote
from typing import TYPE_CHECKING

from fabula.kernel.errors import FabulaError
from fabula.memory.format.paths import is_indexed, normalise
from fabula.memory.format.reader import read
from fabula.memory.format.times import parse
from fabula.storage.git.history import blobs, commit_at, files_at, resolve
from fabula.storage.git.logrows import log_rows

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from fabula.memory.format.reader import Reading
    from fabula.storage.git.reader import Reader
    from fabula.storage.git.repo import Repo
    from fabula.storage.git.values import Entry

_DAY = len("2026-05-14")


class CorpusAt:
    """The memories of one commit. ``at``: its time, seconds since 1970; ``asked``: what the caller named."""

    def __init__(self, reader: Reader, commit: str, at: int, asked: str, entries: dict[str, Entry]) -> None:
        self.commit = commit
        self.at = at
        self.asked = asked
        self.entries = entries  # path -> file, of memories alone
        self._reader = reader

    def paths(self, folder: str = "", *, archived: bool = False) -> list[str]:
        """Return the paths of the memories, sorted; those of the archive only where asked for."""
        begin = f"{normalise(folder)}/" if folder else ""
        into_archive = archived or begin.startswith("archive/")
        return sorted(
            path
            for path in self.entries
            if path.startswith(begin) and (into_archive or not path.startswith("archive/"))
        )

    def read(self, path: str) -> Reading:
        """Return a memory as it was. Raises ``ERR_NOT_FOUND`` where there was none at the path."""
        found = next(self.each([normalise(path)]), None)
        if found is None:
            raise FabulaError(
                "ERR_NOT_FOUND",
                f"{path}: no memory had this path at {self.commit[:12]}",
                f"fabula memory history {quote(path)}",
            )
        return found[2]

    def each(self, paths: Iterable[str]) -> Iterator[tuple[str, str, Reading]]:
        """Yield (path, blob id, memory) of some paths, one at a time; those that were not there are left out."""
        wanted = [(path, self.entries[path]) for path in paths if path in self.entries]
        for path, data in blobs(self._reader, wanted):
            yield path, self.entries[path].id, read(data)


def corpus_at(repo: Repo, when: str) -> CorpusAt:
    """Return the corpus at a day (its end, UTC), a time, or a commit by any name that git knows.

    The commit of a moment is the last one on the branch's own line whose committer's clock was not later. Raises
    ``ERR_NOT_FOUND`` when nothing was committed by then, or there is no such commit, ``ERR_GIT``.
    """
    git = repo.shop.git
    moment = parse(when)
    where = quote(str(git.root))
    if moment is not None:
        if len(when) == _DAY:
            moment += timedelta(days=1, seconds=-1)
        commit = commit_at(git, int(moment.timestamp())) if repo.head() else ""
        if not commit:
            raise FabulaError("ERR_NOT_FOUND", f"nothing was committed by {when}", f"git -C {where} log --reverse")
    else:
        commit = resolve(git, when) if when else ""
        if not commit:
            raise FabulaError(
                "ERR_NOT_FOUND", f"{when!r} is neither a day, a time nor a commit", f"git -C {where} log --oneline"
            )
    entries = {path: entry for path, entry in files_at(git, commit).items() if is_indexed(path)}
    at = next(log_rows(git, "--max-count=1", commit)).at
    return CorpusAt(repo.shop.reader, commit, at, when, entries)
