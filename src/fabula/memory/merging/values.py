"""What a merge says: what it did, or every path on which two sides cannot both be right."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from fabula.kernel.errors import FabulaError
from fabula.kernel.values import frozen

if TYPE_CHECKING:
    from collections.abc import Sequence

#: kind -> what it means, for people
KINDS = {
    "article": "both sides changed the article",
    "title": "both sides changed the title",
    "type": "both sides changed the type",
    "head": "both sides changed what is not the format's in the head",
    "format": "what came together is no memory of the format",
    "added_twice": "both sides wrote another memory to this path",
    "deleted_edited": "one side took the file away, the other changed it",
    "moved_apart": "the sides moved it to different places",
    "occupied": "one side moved a file to where the other has another one",
    "content": "both sides changed the same lines",
}
ConflictKind = Literal[
    "article", "title", "type", "head", "format", "added_twice", "deleted_edited", "moved_apart", "occupied", "content"
]
MergeKind = Literal["already", "forward", "merge"]


@frozen
class Conflict:
    """A path that a person has to decide: the blob ids of the common version and of both sides, empty where is none.

    ``path`` is where it lies on our side, else on theirs; ``kind`` is a key of :data:`KINDS`.
    """

    path: str
    base: str
    ours: str
    theirs: str
    kind: ConflictKind


@frozen
class Merged:
    """What a merge did. ``theirs`` is the commit that was taken in.

    ``kind``: ``already`` it was there, ``forward`` the branch merely went on, ``merge`` a commit with two parents.
    ``moved``: (old, new) path of what moved; ``notices``: what a person may want to look at; ``left``: paths that a
    person changed meanwhile.
    """

    kind: MergeKind
    commit: str
    parent: str
    theirs: str
    changed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    moved: tuple[tuple[str, str], ...] = ()
    notices: tuple[str, ...] = ()
    left: tuple[str, ...] = ()


class MergeConflict(FabulaError):  # noqa: N818 - what it is called everywhere
    """Both sides cannot be right; nothing was changed. ``conflicts`` names every path."""

    def __init__(self, conflicts: Sequence[Conflict], *suggestions: str) -> None:
        lines = [
            f"{one.path}: {KINDS[one.kind]} (base {_short(one.base)}, ours {_short(one.ours)}, "
            f"theirs {_short(one.theirs)})"
            for one in conflicts
        ]
        count = len(lines)
        what = "1 path conflicts" if count == 1 else f"{count} paths conflict"
        super().__init__("ERR_WRITE_CONFLICT", f"{what}, and nothing was changed. {'; '.join(lines)}", *suggestions)
        self.conflicts = tuple(conflicts)


def _short(blob: str) -> str:
    return blob[:12] or "none"
