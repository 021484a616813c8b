"""Following a path forward: where a memory lies now, and what took its place.

What is read is the present tree and the files in it: the archive mirrors the paths of what moved there, and a
corrected file names its successor. Only for a path that left no trace in the tree history is asked where it went.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from fabula.kernel.values import frozen
from fabula.memory.format.paths import archive_year, is_memory_path, normalise, original_path, target_of
from fabula.memory.past.facts import Facts
from fabula.memory.past.tracks import moves_among
from fabula.storage.git.logrows import log_rows
from fabula.storage.git.trees import Trees
from fabula.storage.git.values import ABSENT, FOLDER_MODE

if TYPE_CHECKING:
    from collections.abc import Callable

    from fabula.storage.git.repo import Repo

Via = Literal["supersedes", "archive_move", "move"]
StopReason = Literal["live", "archived", "unindexed", "cycle", "hop_limit"]
HOP_LIMIT = 16


@frozen
class Hop:
    """One step forward."""

    from_path: str
    to_path: str
    via: Via


@frozen
class Resolution:
    """Where a path leads.

    ``stop_reason``: ``live`` a memory that holds; ``archived`` one that was archived without a successor; ``unindexed``
    nothing is there and nothing is known of it; ``cycle`` memories supersede each other in a circle; ``hop_limit`` the
    way is too long. ``pinned_uri`` names what was found for ever: ``memhtml://at/<commit>/<path>``.
    """

    requested: str
    path: str
    hops: int
    steps: tuple[Hop, ...]
    stop_reason: StopReason
    title: str
    commit: str
    pinned_uri: str


def resolve(
    repo: Repo, path: str, *, successor: Callable[[str], str | None] | None = None, hop_limit: int = HOP_LIMIT
) -> Resolution:
    """Follow a path forward to what holds now.

    ``successor`` may name what superseded a memory by links that people wrote (the index knows them); what a file's
    own ``superseded-by`` says comes first. Raises ``ERR_GIT``.
    """
    present = _Present(repo)
    requested = here = normalise(path)
    steps: list[Hop] = []
    seen = {here}
    while True:
        following, reason = _following(present, here, successor)
        if following is None:
            break
        if following.to_path in seen:
            steps.append(following)
            here, reason = following.to_path, "cycle"
            break
        if len(steps) == hop_limit:
            reason = "hop_limit"
            break
        steps.append(following)
        here = following.to_path
        seen.add(here)
    uri = f"memhtml://at/{present.commit}/{here}" if present.blob(here) else ""
    return Resolution(requested, here, len(steps), tuple(steps), reason, present.title(here), present.commit, uri)


def _following(
    present: _Present, here: str, successor: Callable[[str], str | None] | None
) -> tuple[Hop | None, StopReason]:
    """Return the next step from a path, or why there is none."""
    if present.blob(here) == ABSENT:
        mirror = present.archived(here)
        if mirror:
            return Hop(here, mirror, "archive_move"), "live"
        moved = present.moved(here)
        return (Hop(here, moved, "move"), "live") if moved else (None, "unindexed")
    newer = present.superseded_by(here) or (successor(here) if successor else None)
    if newer and newer != here:
        return Hop(here, newer, "supersedes"), "live"
    return None, "archived" if present.is_archived(here) else "live"


class _Present:
    """The tree at HEAD, asked path by path: no more of it is read than is on the way."""

    def __init__(self, repo: Repo) -> None:
        self._git = repo.shop.git
        self.commit, self._tree = repo.shop.head()
        self._trees = Trees(repo.shop.place, lambda tree: repo.shop.reader.data(tree, "tree"))
        self._facts = Facts(repo.shop.reader)

    def blob(self, path: str) -> str:
        """Return the blob id of the file at a path, empty when there is none."""
        entry = self._trees.find(self._tree, path) if self._tree and path else None
        return entry.id if entry is not None and entry.mode != FOLDER_MODE else ABSENT

    def archived(self, path: str) -> str:
        """Return where a path lies in the archive, the latest year first; empty when it is not there."""
        folder = self._trees.find(self._tree, "archive") if self._tree else None
        if folder is None or folder.mode != FOLDER_MODE:
            return ""
        inner = original_path(path) or path
        places = [f"archive/{year}/{inner}" for year in self._trees.entries(folder.id) if year.isdecimal()]
        found = [place for place in places if place != path and self.blob(place)]
        return max(found, key=lambda place: (archive_year(place) or 0, len(place)), default="")

    def superseded_by(self, path: str) -> str:
        """Return what a file says took its place."""
        reading = self._facts.reading(self.blob(path))
        said = reading.head.superseded_by if reading is not None and reading.is_memory else None
        target = target_of(said) if said else ""
        return target if is_memory_path(target) else ""

    def is_archived(self, path: str) -> bool:
        """Say whether a memory was archived, by its place or by its own word."""
        if path.startswith("archive/"):
            return True
        reading = self._facts.reading(self.blob(path))
        return reading is not None and reading.is_memory and reading.head.status == "archived"

    def title(self, path: str) -> str:
        """Return the title of what lies at a path, empty when nothing does."""
        reading = self._facts.reading(self.blob(path))
        return reading.title if reading is not None else ""

    def moved(self, path: str) -> str:
        """Return where the commit that took a file away put it, empty when nowhere, or there never was one."""
        if not self.commit or not path:
            return ""
        row = next(log_rows(self._git, "--max-count=1", "--diff-filter=D", self.commit, "--", path), None)
        if row is None:
            return ""
        whole = next(log_rows(self._git, "--max-count=1", row.commit)).touches
        old = {touch.path: touch.old for touch in whole if touch.new == ABSENT}
        new = {touch.path: touch.new for touch in whole if touch.old == ABSENT}
        moves = moves_among(old, new, lambda one: self._facts.name(old[one]), lambda one: self._facts.name(new[one]))
        return moves.get(path, "")
