"""Changing a tree: which folders become new when some paths change. Pure but for reading the folders on the way."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.kernel.errors import FabulaError
from fabula.storage.git.objects import made, tree_bytes, tree_entries
from fabula.storage.git.paths import folded
from fabula.storage.git.values import ABSENT, FOLDER_MODE, Entry

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from fabula.storage.git.objects import Object
    from fabula.storage.git.values import Place

MOST_ENTRIES = 200_000  # that are kept of folders: some 20 MB

Edits = dict[str, Entry | None]  # path -> what is to be there; None: nothing


class Folders:
    """Entries of folders by the id of their tree, kept from one commit to the next: what has an id never changes."""

    def __init__(self, most_entries: int = MOST_ENTRIES) -> None:
        self._most = most_entries
        self._kept: dict[str, dict[str, Entry]] = {}  # those used last are at its end
        self._entries = 0

    def get(self, tree: str) -> dict[str, Entry] | None:
        """Return the entries of a folder, ``None`` where they are not kept."""
        found = self._kept.pop(tree, None)
        if found is not None:
            self._kept[tree] = found
        return found

    def keep(self, tree: str, entries: dict[str, Entry]) -> None:
        """Keep the entries of a folder, and let go of those that were not used for longest."""
        if tree in self._kept:
            return
        self._kept[tree] = entries
        self._entries += len(entries)
        while self._entries > self._most and len(self._kept) > 1:
            oldest = next(iter(self._kept))
            self._entries -= len(self._kept.pop(oldest))


class Trees:
    """Folders of a commit's tree, read once each. ``read`` returns the bytes of a tree by its id.

    ``folders``: what was read before, and is of use again.
    """

    def __init__(self, place: Place, read: Callable[[str], bytes], folders: Folders | None = None) -> None:
        self._place = place
        self._read = read
        self._folders = folders if folders is not None else Folders()
        self._known: dict[str, dict[str, Entry]] = {}

    def entries(self, tree: str) -> dict[str, Entry]:
        """Return the entries of a folder; of no folder (an empty id) none."""
        if tree == ABSENT:
            return {}
        if tree not in self._known:
            kept = self._folders.get(tree)
            self._know(tree, tree_entries(self._read(tree), self._place.id_bytes) if kept is None else kept)
        return self._known[tree]

    def find(self, tree: str, path: str) -> Entry | None:
        """Return what a path is in a tree: a file, a folder, or nothing."""
        found: Entry | None = Entry(FOLDER_MODE, tree)
        for name in path.split("/"):
            if found is None or found.mode != FOLDER_MODE:
                return None
            found = self.entries(found.id).get(name)
        return found

    def edited(self, tree: str, edits: Edits) -> tuple[str, list[Object]]:
        """Return the id of the tree after some edits, and the folders that are new.

        Raises ``ERR_WRITE_CONFLICT`` where a file and a folder, or two names that some systems hold for one, would be
        at the same place.
        """
        new: list[Object] = []
        root = self._folder(tree, {tuple(path.split("/")): entry for path, entry in edits.items()}, "", new)
        if root is None:
            thing = made("tree", b"", self._place.algorithm)
            new.append(thing)
            root = thing.id
        return root, new

    def _folder(
        self, tree: str, edits: Mapping[tuple[str, ...], Entry | None], where: str, new: list[Object]
    ) -> str | None:
        """Edit one folder; return its new id, or ``None`` when nothing is left in it."""
        entries = dict(self.entries(tree))
        deeper: dict[str, dict[tuple[str, ...], Entry | None]] = {}
        added: list[str] = []
        for path, entry in edits.items():
            name = path[0]
            if len(path) > 1:
                deeper.setdefault(name, {})[path[1:]] = entry
                continue
            there = entries.get(name)
            if there is not None and there.mode == FOLDER_MODE:
                raise _taken(where + name, "a folder")
            if entry is None:
                entries.pop(name, None)
            else:
                added.append(name)
                entries[name] = entry
        for name, inner in deeper.items():
            below = self._below(entries.get(name), inner, f"{where}{name}/", new)
            if below is None:
                entries.pop(name, None)
            else:
                added.append(name)
                entries[name] = Entry(FOLDER_MODE, below)
        _refuse_twins(entries, [name for name in added if name not in self.entries(tree)], where)
        if not entries:
            return None
        thing = made("tree", tree_bytes(entries), self._place.algorithm)
        new.append(thing)
        self._know(thing.id, entries)
        return thing.id

    def _know(self, tree: str, entries: dict[str, Entry]) -> None:
        self._known[tree] = entries
        self._folders.keep(tree, entries)

    def _below(
        self, there: Entry | None, edits: Mapping[tuple[str, ...], Entry | None], where: str, new: list[Object]
    ) -> str | None:
        if there is not None and there.mode != FOLDER_MODE:
            if any(entry is not None for entry in edits.values()):
                raise _taken(where[:-1], "a file")
            return there.id
        return self._folder(there.id if there else ABSENT, edits, where, new)


def _refuse_twins(entries: Mapping[str, Entry], added: list[str], where: str) -> None:
    """Refuse new names that some file systems hold for a name that is there."""
    if not added:
        return
    alike: dict[str, list[str]] = {}
    for name in entries:
        alike.setdefault(folded(name), []).append(name)
    for name in added:
        twin = next((other for other in alike[folded(name)] if other != name), "")
        if twin:
            raise FabulaError(
                "ERR_WRITE_CONFLICT",
                f"{where}{name}: {where}{twin} is there, and systems that ignore case hold both for one",
                "write to a path that differs in more than case",
            )


def _taken(path: str, kind: str) -> FabulaError:
    return FabulaError("ERR_WRITE_CONFLICT", f"{path}: {kind} has this name", "write to another path")
