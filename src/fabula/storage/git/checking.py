"""Whether a person's own work is in the way of a commit: staged entries, changed or untracked files, ignored paths."""

from __future__ import annotations

import os
from shlex import quote
from typing import TYPE_CHECKING

from fabula.kernel.errors import FabulaError
from fabula.storage.git.worktree import read_file

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fabula.storage.git.filters import Filters
    from fabula.storage.git.index import Index
    from fabula.storage.git.program import Git
    from fabula.storage.git.values import Edit, Place


def skipped_paths(edits: Iterable[Edit], index: Index, place: Place, filters: Filters) -> tuple[str, ...]:
    """Check that nothing of a person's is touched; return the paths that are left out of the work tree on purpose.

    A file that holds already what the commit will is no obstacle: it is taken in. Raises ``ERR_DIRTY`` for what is
    staged or changed, ``ERR_WRITE_CONFLICT`` for an untracked file, ``ERR_PATH`` where a link is on the way.
    """
    skipped = []
    for edit in edits:
        staged = index.find(edit.path)
        if staged is not None and not staged.plain:
            raise _dirty(place, edit.path, "has an unfinished merge, or is announced by git add -N")
        if (staged.entry if staged else None) not in {edit.old, edit.new}:
            raise _staged(place, edit.path, "has a staged change")
        if edit.old is None and index.blocked(edit.path):
            raise _staged(place, edit.path, "is in the way of something staged")
        there = read_file(place.root, edit.path)
        if there is None:
            if staged is not None and staged.skipped:
                skipped.append(edit.path)
            elif edit.old is not None and edit.new is not None:
                raise _dirty(place, edit.path, "was deleted in the work tree, and that is not committed")
        elif not _known(filters, edit, there):
            raise _in_the_way(place, edit)
    return tuple(skipped)


def _known(filters: Filters, edit: Edit, there: bytes) -> bool:
    return any(entry is not None and filters.is_blob(edit.path, there, entry.id) for entry in (edit.old, edit.new))


def _in_the_way(place: Place, edit: Edit) -> FabulaError:
    if edit.old is None:
        return FabulaError(
            "ERR_WRITE_CONFLICT", f"{edit.path}: a file that git does not track is there", "write to another path"
        )
    return _dirty(place, edit.path, "has a change in the work tree that is not committed")


def _dirty(place: Place, path: str, why: str) -> FabulaError:
    commit = f"git -C {quote(str(place.root))} commit -m 'my change'"
    return FabulaError("ERR_DIRTY", f"{path} {why}", f"{commit} -- {quote(path)}")


def _staged(place: Place, path: str, why: str) -> FabulaError:
    return FabulaError("ERR_DIRTY", f"{path} {why}", f"git -C {quote(str(place.root))} commit -m 'my change'")


class IgnoreQuestion:
    """Asks git which paths are ignored while other work goes on."""

    def __init__(self, git: Git, paths: Iterable[str]) -> None:
        self._git = git
        self._names = b"".join(os.fsencode(path) + b"\0" for path in paths)
        self._process = git.start("check-ignore", "-z", "--stdin") if self._names else None

    def answer(self) -> None:
        """Wait for git. Raises ``ERR_PATH`` when a path is ignored."""
        if self._process is None:
            return
        out, _ = self._process.communicate(self._names)
        ignored = [os.fsdecode(name) for name in out.split(b"\0") if name]
        self._process = None
        if ignored:
            where = quote(str(self._git.root))
            raise FabulaError(
                "ERR_PATH",
                f"{ignored[0]!r} is ignored by git here, so it would never be seen",
                f"take out the rule that this names: git -C {where} check-ignore -v {quote(ignored[0])}",
            )

    def close(self) -> None:
        """End the question unanswered."""
        if self._process is not None:
            self._process.communicate()
            self._process = None
