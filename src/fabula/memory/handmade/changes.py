"""What people changed in the files of a corpus with an editor, and what is wrong with it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Literal

from fabula.kernel.errors import FabulaError
from fabula.kernel.values import frozen
from fabula.memory.format.paths import is_indexed, normalise
from fabula.memory.format.reader import read
from fabula.memory.past.facts import Facts
from fabula.memory.past.tracks import moves_among
from fabula.storage.git.trees import Trees
from fabula.storage.git.values import ABSENT
from fabula.storage.git.worktree import read_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from fabula.memory.format.findings import Finding
    from fabula.memory.format.reader import Reading
    from fabula.storage.git.repo import Repo

ChangeKind = Literal["A", "M", "D", "R"]
_UNMERGED = frozenset({"DD", "AU", "UD", "UA", "DU", "AA", "UU"})


@frozen
class HandChange:
    """A memory file that differs from HEAD, staged or not.

    ``kind``: ``A`` new, ``M`` changed, ``D`` gone, ``R`` moved from ``before``. ``old`` is the blob at HEAD of the file
    (of ``before`` where it moved), empty where it is new. ``findings``: why it is no memory; empty where it is one.
    """

    path: str
    kind: ChangeKind
    before: str
    old: str
    title: str
    data: bytes | None
    findings: tuple[Finding, ...]


def changes_of(repo: Repo, paths: Sequence[str] = ()) -> list[HandChange]:
    """Return the changed memory files of the work tree, sorted; of some files and folders only, where named.

    Files in new folders are seen, ignored ones are not. Raises ``ERR_DIRTY`` for one with an unfinished merge,
    ``ERR_PATH`` for a link or what lies behind one, ``ERR_GIT``.
    """
    wanted = [normalise(path) for path in paths]
    changed = [path for path in _changed(repo) if is_indexed(path) and _is_below(path, wanted)]
    tree = repo.shop.head()[1]
    trees = Trees(repo.shop.place, lambda one: repo.shop.reader.data(one, "tree"))
    old = {path: entry.id for path in changed if tree and (entry := trees.find(tree, path)) is not None}
    data = {path: read_file(repo.shop.place.root, path) for path in changed}
    readings = {path: read(text) for path, text in data.items() if text is not None}
    facts = Facts(repo.shop.reader)
    moved = moves_among(
        (path for path in changed if data[path] is None and path in old),
        (path for path in readings if path not in old),
        lambda path: facts.name(old[path]),
        lambda path: _fact(readings[path]),
    )
    came_from = {new: before for before, new in moved.items()}
    found = []
    for path in changed:
        if path in moved or (path not in old and data[path] is None):
            continue
        before = came_from.get(path, "")
        reading = readings.get(path)
        gone = facts.reading(old[path]) if reading is None else None
        title = reading.title if reading is not None else gone.title if gone is not None else path
        found.append(
            HandChange(
                path, _kind(path, before, old, data), before, old.get(before or path, ABSENT), title, data[path],
                tuple(reading.violations) if reading is not None else (),
            )
        )  # fmt: skip
    return found


def _changed(repo: Repo) -> list[str]:
    """Return every path that git sees as changed. Raises ``ERR_DIRTY`` where a merge is unfinished."""
    words = ("status", "--porcelain=v1", "-z", "--untracked-files=all", "--no-renames")
    rows = [os.fsdecode(row) for row in repo.shop.git.run(*words).out.split(b"\0") if row]
    unmerged = [row[3:] for row in rows if row[:2] in _UNMERGED]
    if unmerged:
        from shlex import quote

        raise FabulaError(
            "ERR_DIRTY",
            f"{', '.join(unmerged)}: a merge is unfinished here",
            f"git -C {quote(str(repo.shop.place.root))} merge --abort",
        )
    return sorted({row[3:] for row in rows})


def _is_below(path: str, wanted: Iterable[str]) -> bool:
    places = list(wanted)
    return not places or any(path == place or path.startswith(f"{place}/") for place in places)


def _kind(path: str, before: str, old: dict[str, str], data: dict[str, bytes | None]) -> ChangeKind:
    if before:
        return "R"
    if data[path] is None:
        return "D"
    return "M" if path in old else "A"


def _fact(reading: Reading) -> str | None:
    return reading.fact_hash if reading.is_memory else None
