"""An index of a form that only git knows (split, sparse, version 4): asked and changed by the git program on a copy."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from fabula.kernel.errors import FabulaError
from fabula.storage.files import disk_errors
from fabula.storage.git.index import Index, PlainIndex, Staged, is_whole, plain_index
from fabula.storage.git.values import Entry

if TYPE_CHECKING:
    from pathlib import Path

    from fabula.storage.git.program import Git
    from fabula.storage.git.trees import Edits
    from fabula.storage.git.values import Place


class IndexReader:
    """Reads the user's index; one that we wrote ourselves, or saw before, is not taken apart again."""

    def __init__(self, git: Git, place: Place, private: Path) -> None:
        self._git = git
        self._place = place
        self._private = private
        self._known: PlainIndex | None = None

    def read(self) -> Index:
        """Return the index as it is. Raises ``ERR_GIT`` when it is damaged."""
        path = self._place.own / "index"
        with disk_errors(path):
            data = path.read_bytes() if path.exists() else b""
        if self._known is None or self._known.data != data:
            if data and not is_whole(data, self._place.id_bytes):
                raise _damaged(self._place)
            self._known = plain_index(data, self._place.id_bytes)
        return self._known or ProgramIndex(self._git, self._place, data, self._private)

    def edited(self, index: Index, edits: Edits) -> bytes:
        """Return the bytes of an index after some edits, and know them when they are read next."""
        if isinstance(index, PlainIndex):
            self._known = index.after(edits)
            return self._known.data
        return index.edited(edits)


class ProgramIndex:
    """An index that git reads and writes for us, on a copy that nobody else sees."""

    def __init__(self, git: Git, place: Place, data: bytes, private: Path) -> None:
        self._git = git
        self._place = place
        self._private = private
        private.unlink(missing_ok=True)
        with disk_errors(private):
            private.write_bytes(data)
        self._extra = {"GIT_INDEX_FILE": str(private)}
        self._staged = self._list()

    def _list(self) -> dict[str, Staged]:
        """Return all that is staged. The rows: ``H 100644 ID STAGE<TAB>PATH``; a letter ``S`` marks what is skipped."""
        staged: dict[str, Staged] = {}
        for row in self._git.run("ls-files", "-t", "--stage", "-z", extra=self._extra).out.split(b"\0"):
            head, tab, name = row.partition(b"\t")
            if tab:
                letter, mode, identity, stage = head.decode().split(" ")
                staged[os.fsdecode(name)] = Staged(Entry(mode, identity), letter == "S", stage == "0")
        return staged

    def find(self, path: str) -> Staged | None:
        """Return what is staged at a path."""
        return self._staged.get(path)

    def blocked(self, path: str) -> bool:
        """Say whether a folder on the way is staged as a file, or the path as a folder."""
        parts = path.split("/")
        above = any("/".join(parts[:count]) in self._staged for count in range(1, len(parts)))
        return above or any(name.startswith(f"{path}/") for name in self._staged)

    def edited(self, edits: Edits) -> bytes:
        """Return the bytes of the index after some edits."""
        gone = "0" * 2 * self._place.id_bytes
        rows = [
            os.fsencode(f"{entry.mode} {entry.id}\t{path}" if entry else f"0 {gone}\t{path}")
            for path, entry in edits.items()
        ]
        told = b"".join(row + b"\0" for row in rows)
        self._git.run("update-index", "-z", "--index-info", stdin=told, extra=self._extra)
        with disk_errors(self._private):
            data = self._private.read_bytes()
            self._private.unlink()
        return data


def _damaged(place: Place) -> FabulaError:
    from shlex import quote

    index, root = quote(str(place.own / "index")), quote(str(place.root))
    return FabulaError(
        "ERR_GIT",
        f"{place.own / 'index'}: git's index is damaged",
        f"make it anew (what is staged has to be staged again): mv {index} {index}.damaged && git -C {root} reset",
    )
