"""From changes to edits of a tree: pure but for reading the tree at HEAD. Refuses what does not fit what is there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.kernel.errors import FabulaError
from fabula.kernel.values import frozen
from fabula.storage.git.paths import checked
from fabula.storage.git.values import (
    ABSENT,
    FILE_MODE,
    FOLDER_MODE,
    LINK_MODE,
    MODULE_MODE,
    Change,
    Edit,
    Entry,
    Put,
    Remove,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from fabula.storage.git.trees import Trees


@frozen
class Slot:
    """What a change does to one path, before its blob is known.

    ``data``: the new bytes; ``None``: the blob ``kept`` under a new name, or nothing at all.
    """

    path: str
    old: Entry | None
    data: bytes | None = None
    kept: Entry | None = None
    mode: str = FILE_MODE
    source: str = ""  # the path whose bytes move here


def slots_of(changes: Iterable[Change], trees: Trees, tree: str) -> list[Slot]:
    """Return what becomes of each path.

    Raises ``ERR_PATH`` for paths that may not be written, are links or submodules, or are named twice;
    ``ERR_WRITE_CONFLICT`` where something else is at a path than the change was made from.
    """
    slots: dict[str, Slot] = {}
    for change in changes:
        for slot in _slots(change, trees, tree):
            if slot.path in slots:
                raise FabulaError("ERR_PATH", f"{slot.path!r} is named twice in one commit")
            slots[slot.path] = slot
    return list(slots.values())


def _slots(change: Change, trees: Trees, tree: str) -> list[Slot]:
    if isinstance(change, Put):
        old = _found(trees, tree, change.path, change.replaces, must=change.replaces != ABSENT)
        if old is not None and change.replaces == ABSENT:
            raise _occupied(change.path)
        return [Slot(change.path, old, change.data, mode=old.mode if old else FILE_MODE)]
    if isinstance(change, Remove):
        return [Slot(change.path, _found(trees, tree, change.path, change.replaces, must=True))]
    source = _found(trees, tree, change.source, change.replaces, must=True)
    if _found(trees, tree, change.target, ABSENT, must=False) is not None:
        raise _occupied(change.target)
    assert source is not None
    return [
        Slot(change.target, None, change.data, kept=source, mode=source.mode, source=change.source),
        Slot(change.source, source),
    ]


def _found(trees: Trees, tree: str, path: str, replaces: str, *, must: bool) -> Entry | None:
    """Return the file at a path of the tree, which must be the one that a change was made from."""
    entry = trees.find(tree, checked(path)) if tree != ABSENT else None
    if entry is not None and entry.mode == FOLDER_MODE:
        raise FabulaError("ERR_WRITE_CONFLICT", f"{path}: a folder has this name", "write to another path")
    if entry is not None and entry.mode in {LINK_MODE, MODULE_MODE}:
        raise FabulaError("ERR_PATH", f"{path!r} is a link or a submodule in the repository, not a file")
    if must and (entry is None or replaces not in {ABSENT, entry.id}):
        now = f"is {entry.id[:12]} now" if entry else "is gone"
        raise FabulaError(
            "ERR_WRITE_CONFLICT", f"{path}: changed since it was read: it {now}", "read it again, then repeat"
        )
    return entry


def _occupied(path: str) -> FabulaError:
    return FabulaError("ERR_WRITE_CONFLICT", f"{path}: a file has this path already", "write to another path")


def edits_of(slots: Iterable[Slot], blobs: Mapping[str, str]) -> tuple[Edit, ...]:
    """Return the edits once the blobs of new bytes are known; those that change nothing are left out."""
    edits = []
    for slot in slots:
        new = Entry(slot.mode, blobs[slot.path]) if slot.data is not None else slot.kept
        if new != slot.old:
            edits.append(Edit(slot.path, slot.old, new))
    return tuple(edits)
