"""Adding objects to a repository: a few as loose files, many as one pack that git itself indexes."""

from __future__ import annotations

import os
from contextlib import suppress
from secrets import token_hex
from typing import TYPE_CHECKING

from fabula.storage.files import disk_errors
from fabula.storage.git.objects import loose_bytes, pack_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from fabula.storage.git.durable import NewFiles
    from fabula.storage.git.objects import Object
    from fabula.storage.git.program import Git
    from fabula.storage.git.values import Place

FEW = 64  # objects that are written as files of their own

_TEMPORARY = "tmp_obj_"  # what git's own clean-up takes for left-overs


class LooseObjects:
    """Objects on their way into a repository as files: written, synced with others, then named."""

    def __init__(self, place: Place, files: NewFiles) -> None:
        self._folder = place.common / "objects"
        self._files = files
        self._named: list[tuple[Path, Path]] = []

    def add(self, things: Iterable[Object]) -> None:
        """Write objects; those that are there already are marked as in use, so that git's clean-up leaves them."""
        folder_mode = self._folder.stat().st_mode
        for thing in things:
            path = self._folder / thing.id[:2] / thing.id[2:]
            with suppress(OSError):
                os.utime(path)
                continue
            temporary = self._folder / f"{_TEMPORARY}{token_hex(8)}"
            self._named.append((temporary, path))
            self._files.add(temporary, loose_bytes(thing), 0o444 & folder_mode)

    def name(self) -> None:
        """Give synced objects their names: from now on git sees them."""
        named, self._named = self._named, []
        for temporary, path in named:
            with disk_errors(path):
                try:
                    os.replace(temporary, path)
                except FileNotFoundError:
                    path.parent.mkdir(exist_ok=True)
                    path.parent.chmod(self._folder.stat().st_mode & 0o7777)
                    os.replace(temporary, path)

    def drop(self) -> None:
        """Remove what was written and has no name yet."""
        for temporary, _ in self._named:
            with suppress(OSError):
                os.unlink(temporary)
        self._named = []


def store_pack(git: Git, place: Place, things: Sequence[Object]) -> None:
    """Add many objects as one pack; git checks and indexes it, durably."""
    pack = b"".join(pack_bytes(things, place.algorithm))
    git.run("index-pack", "--stdin", stdin=pack)
