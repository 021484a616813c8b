"""What is said to a git repository and what it answers: changes, messages, commits, places.

Ids are lower-case hexadecimal (40 digits for SHA-1, 64 for SHA-256). Paths are text relative to the root, with ``/``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.kernel.values import define, frozen

if TYPE_CHECKING:
    from pathlib import Path

FILE_MODE = "100644"
PROGRAM_MODE = "100755"
LINK_MODE = "120000"
MODULE_MODE = "160000"
FOLDER_MODE = "40000"

ABSENT = ""  # the id of what is not there


@frozen
class Place:
    """Where a repository lies.

    ``root`` is the top of the work tree, ``own`` the git folder of this work tree, ``common`` the one that all its work
    trees share, ``algorithm`` names the hash of its ids (``sha1`` or ``sha256``).
    """

    root: Path
    own: Path
    common: Path
    algorithm: str = "sha1"

    @property
    def id_bytes(self) -> int:
        """The length of an id in bytes."""
        return 32 if self.algorithm == "sha256" else 20


@frozen
class Put:
    """Write a file. ``replaces`` is the blob id of the version it was made from; empty: nothing may be at the path."""

    path: str
    data: bytes
    replaces: str = ABSENT


@frozen
class Remove:
    """Take a file out of the tree. ``replaces``: the blob id it must have; empty: whatever is there."""

    path: str
    replaces: str = ABSENT


@frozen
class Move:
    """Move a file to a free path; with ``data`` it has these bytes afterwards."""

    source: str
    target: str
    data: bytes | None = None
    replaces: str = ABSENT


Change = Put | Remove | Move


@frozen
class Entry:
    """A file of a tree."""

    mode: str
    id: str


@frozen
class Edit:
    """What becomes of one path: ``old`` at HEAD before, ``new`` after; ``None`` where there is nothing."""

    path: str
    old: Entry | None
    new: Entry | None


@frozen
class Person:
    """Whose work a commit is."""

    name: str
    email: str


@frozen
class Committed:
    """A commit that was made.

    ``blobs``: path -> blob id of everything written or moved. ``left``: paths that a person changed in the work tree in
    the very moment of the commit; their file was left as it is and shows as modified.
    """

    id: str
    parent: str
    blobs: dict[str, str]
    left: tuple[str, ...] = ()


@define
class Settings:
    """What the user's configuration of git says about commits."""

    author: Person
    committer: Person
    signs: bool = False
    converts_lines: bool = False
    attributes_file: str = ""
    ignores_case: bool = False
