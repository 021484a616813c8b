"""Finding files below a folder by name and stat alone, in a stable order."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

from fabula.kernel.records import SourceFile

if TYPE_CHECKING:
    from collections.abc import Iterator

DEPTH_LIMIT = 24  # folders below a root; deeper ones are reported, not entered


class Walker:
    """Walks folders and remembers what it could not look into."""

    def __init__(self) -> None:
        self.problems: list[tuple[str, str]] = []
        self._root = ""

    def files(self, folder: str, suffixes: tuple[str, ...]) -> Iterator[tuple[str, os.stat_result]]:
        """Yield (path, stat) of the regular files below ``folder`` whose names end in one of ``suffixes``.

        ``folder`` may be a link; a link below it is followed when it stays below it, each folder once, and is a problem
        when it leads elsewhere. A folder that does not exist holds nothing; one that cannot be read is a problem.
        """
        self._root = os.path.realpath(folder) + os.sep
        yield from self._walk(folder, suffixes, set(), 0)

    def _walk(
        self, folder: str, suffixes: tuple[str, ...], entered: set[tuple[int, int]], depth: int
    ) -> Iterator[tuple[str, os.stat_result]]:
        if depth > DEPTH_LIMIT:
            self.problems.append((folder, "nested too deeply"))
            return
        try:
            here = os.stat(folder)
            if (here.st_dev, here.st_ino) in entered:
                return
            entered.add((here.st_dev, here.st_ino))
            with os.scandir(folder) as listing:
                entries = sorted(listing, key=lambda entry: entry.name)
        except FileNotFoundError:
            return
        except OSError as error:
            self.problems.append((folder, error.strerror or str(error)))
            return
        for entry in entries:
            try:
                if entry.is_symlink() and not (os.path.realpath(entry.path) + os.sep).startswith(self._root):
                    self.problems.append((entry.path, "a link that leads elsewhere"))
                elif entry.is_dir():
                    yield from self._walk(entry.path, suffixes, entered, depth + 1)
                elif entry.name.endswith(suffixes):
                    found = entry.stat()
                    if stat.S_ISREG(found.st_mode):
                        yield entry.path, found
            except FileNotFoundError:
                continue  # a link to nothing, or gone between listing and looking
            except OSError as error:
                self.problems.append((entry.path, error.strerror or str(error)))

    def entries(self, folder: str) -> list[os.DirEntry[str]]:
        """Return what lies in ``folder`` itself, sorted by name; nothing when there is no such folder."""
        try:
            with os.scandir(folder) as listing:
                return sorted(listing, key=lambda entry: entry.name)
        except FileNotFoundError:
            return []
        except OSError as error:
            self.problems.append((folder, error.strerror or str(error)))
            return []

    def folders(self, folder: str) -> list[str]:
        """Return the names of the folders in ``folder``, sorted."""
        return [entry.name for entry in self.entries(folder) if entry.is_dir()]

    def one(self, path: str) -> os.stat_result | None:
        """Return the stat of one regular file, ``None`` when there is none."""
        try:
            found = os.stat(path)
        except FileNotFoundError:
            return None
        except OSError as error:
            self.problems.append((path, error.strerror or str(error)))
            return None
        return found if stat.S_ISREG(found.st_mode) else None


def source_file(
    host: str, path: str, kind: str, session: str, found: os.stat_result, *, parent: str = ""
) -> SourceFile:
    """Return the value that describes a found file."""
    return SourceFile(
        host, path, kind, session, found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino, parent
    )
