"""What is the matter with a corpus's repository: locks, a HEAD without a branch, work that was begun, lost objects."""

from __future__ import annotations

from shlex import quote
from typing import TYPE_CHECKING

from fabula.kernel.values import frozen
from fabula.storage.git.locking import MARK

if TYPE_CHECKING:
    from pathlib import Path

    from fabula.storage.git.repo import Repo

#: file or folder in the git folder -> what was begun, and the words that end it
_BEGUN = {
    "MERGE_HEAD": ("a merge", "merge --abort"),
    "CHERRY_PICK_HEAD": ("a cherry-pick", "cherry-pick --abort"),
    "REVERT_HEAD": ("a revert", "revert --abort"),
    "rebase-merge": ("a rebase", "rebase --abort"),
    "rebase-apply": ("a rebase", "rebase --abort"),
    "BISECT_LOG": ("a bisection", "bisect reset"),
}
_LOCKS = ("index.lock", "HEAD.lock")
FSCK_SECONDS = 600.0
SHOWN = 3


@frozen
class Trouble:
    """Something about a repository. ``is_grave``: memories cannot be written, or are lost."""

    message: str
    remedy: str
    is_grave: bool = False


def troubles_of(repo: Repo) -> list[Trouble]:
    """Return what hinders work in a repository; nothing is changed. Raises ``ERR_GIT`` where git gives no answer."""
    place = repo.shop.place
    where = f"git -C {quote(str(place.root))}"
    found = [_lock(path) for name in _LOCKS if _is_anothers(path := place.own / name)]
    begun = dict.fromkeys(said for name, said in _BEGUN.items() if (place.own / name).exists())
    found += [Trouble(f"{what} is under way", f"{where} {words}") for what, words in begun]
    branch = repo.shop.git.run("symbolic-ref", "-q", "HEAD", allowed=(0, 1))
    if branch.status and not begun:
        name = f"kept-{repo.head()[:8]}"
        message = "HEAD is on no branch: a checkout would lose sight of what is written"
        found.append(Trouble(message, f"{where} switch -c {name}"))
    return found


def lost_objects(repo: Repo) -> list[str]:
    """Return what git says of objects that are missing or broken, a few lines; empty where the history is whole."""
    words = ("fsck", "--connectivity-only", "--no-dangling", "--no-progress")
    said = repo.shop.git.run(*words, allowed=tuple(range(64)), limit=FSCK_SECONDS)
    if not said.status:
        return []
    lines = (said.err + b"\n" + said.out).decode("utf-8", "replace").split("\n")
    return [line.strip() for line in lines if line.strip()][:SHOWN] or [f"git fsck ended with {said.status}"]


def _is_anothers(lock: Path) -> bool:
    """Whether a lock of git is there that is not ours: ours go away when the repository is opened next."""
    try:
        with lock.open("rb") as stream:
            return stream.read(len(MARK)) != MARK
    except OSError:
        return False


def _lock(path: Path) -> Trouble:
    message = f"{path.name} is there: git is at work, or was stopped while it was"
    return Trouble(message, f"if no git runs here any more: rm {quote(str(path))}", is_grave=True)
