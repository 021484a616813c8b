"""What is to be forgotten, where it stands, and what was done."""

from __future__ import annotations

from fabula.kernel.values import frozen
from fabula.memory.format.paths import original_path


@frozen
class Target:
    """What a person names: memories by their paths, or whatever holds a text."""

    paths: tuple[str, ...] = ()
    text: str = ""


@frozen
class Remote:
    """A branch or tag of a remote that still holds it, and the command that replaces it there."""

    name: str
    ref: str
    command: str


@frozen
class Found:
    """Where the things that are to be forgotten stand in a repository.

    ``paths``: those of which every version goes; ``blobs``: versions that go; ``edited``: blob -> its bytes without
    them (links of other memories, rows of logs); ``needles``: texts that give them away; ``commits``: those that touch
    or name them.
    """

    target: Target
    paths: frozenset[str]
    blobs: frozenset[str]
    edited: dict[str, bytes]
    needles: tuple[str, ...]
    commits: frozenset[str]


@frozen
class Preview:
    """What a forgetting would do: shown to a person before it is done.

    ``paths``: memories that go, with every version; ``versions``: how many versions go in all; ``commits``: how many
    commits are written anew; ``signed``: how many of them lose their signature; ``refs``: branches and tags that move;
    ``citing``: memories that link to it (the links go); ``naming``: files that name it in their text (that stays).
    """

    found: Found
    paths: tuple[str, ...]
    versions: int
    commits: int
    signed: int
    refs: tuple[str, ...]
    stashes: int
    citing: tuple[str, ...]
    naming: tuple[str, ...]
    remotes: tuple[Remote, ...]

    @property
    def memories(self) -> int:
        """How many memories go: one in the archive is the one that it was before."""
        return len({original_path(path) or path for path in self.paths})


@frozen
class Forgotten:
    """What was done. ``commit`` is HEAD now; ``still``: versions that the repository holds, or borrows, still."""

    commit: str
    versions: int
    commits: int
    refs: tuple[str, ...]
    remotes: tuple[Remote, ...]
    still: tuple[str, ...]
    left: tuple[str, ...]
