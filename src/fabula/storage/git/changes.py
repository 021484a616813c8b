"""What two commits differ in, with what each path is afterwards: one call of git, however much changed."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from fabula.kernel.errors import FabulaError
from fabula.storage.git.values import Entry

if TYPE_CHECKING:
    from fabula.storage.git.program import Git


def changed_entries(git: Git, older: str, newer: str, *folders: str) -> dict[str, Entry | None]:
    """Return path -> what it is in the newer commit, ``None`` where it is gone; below some folders, if any are named.

    Raises ``ERR_GIT`` when one of them is no commit of this repository.
    """
    for name in (older, newer):
        if not name or name.startswith("-"):
            raise FabulaError("ERR_PATH", f"{name!r} is no name of a commit")
    words = ("diff-tree", "-r", "-z", "--raw", "--no-abbrev", "--no-renames", "--full-index")
    return parse_raw(git.run("--literal-pathspecs", *words, older, newer, "--", *folders).out)


def parse_raw(rows: bytes) -> dict[str, Entry | None]:
    """Read ``diff-tree --raw -z --no-renames``: ``:OLDMODE NEWMODE OLDID NEWID LETTER`` and a path, by turns."""
    found: dict[str, Entry | None] = {}
    fields = rows.split(b"\0")
    for head, path in zip(fields[::2], fields[1::2], strict=False):
        words = head.decode("ascii", "replace").lstrip(":").split()
        if len(words) == 5:
            found[os.fsdecode(path)] = None if words[4] == "D" else Entry(words[1], words[3])
    return found
