"""What a forgetting would do, found by reading alone; and what makes it impossible now."""

from __future__ import annotations

import os
from shlex import quote
from typing import TYPE_CHECKING

from fabula.kernel.errors import FabulaError
from fabula.kernel.values import frozen
from fabula.memory.forgetting.finding import LEAST, everything, find
from fabula.memory.forgetting.values import Preview, Remote
from fabula.memory.forgetting.words import Words, long_enough
from fabula.memory.format.paths import is_indexed
from fabula.storage.git.history import files_at
from fabula.storage.git.replacing import STASH
from fabula.storage.git.streaming import with_descendants

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fabula.memory.forgetting.values import Found, Target
    from fabula.storage.git.logrows import LogRow
    from fabula.storage.git.program import Git
    from fabula.storage.git.repo import Repo

_UNDER_WAY = ("MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "BISECT_LOG", "rebase-merge", "rebase-apply")


@frozen
class Ref:
    """A branch, a tag, or what is known of a remote's; ``kind`` is of the object that it names."""

    name: str
    id: str
    kind: str
    commit: str


@frozen
class Survey:
    """A repository looked through: its log, its refs, the log of its stash, what was found, and what follows it."""

    rows: list[LogRow]
    refs: list[Ref]
    stash: list[str]
    found: Found
    affected: set[str]


def preview(repo: Repo, target: Target) -> Preview:
    """Say what would go, and where. Raises as :func:`survey`."""
    return shown(repo, survey(repo, target))


def survey(repo: Repo, target: Target) -> Survey:
    """Look a repository through.

    Raises ``ERR_USAGE`` for a text too short, ``ERR_NOT_FOUND`` where nothing is found, ``ERR_GIT`` where the history
    is not whole, something is under way, or another work tree holds on to it.
    """
    if not target.paths and len(target.text.strip()) < LEAST:
        raise FabulaError(
            "ERR_USAGE",
            f"a text of at least {LEAST} characters, or a path, has to be named",
            "fabula memory forget PATH",
        )
    _refuse_unfit(repo)
    refs = refs_of(repo.shop.git)
    stash = _stash_lines(repo)
    rows = everything(repo, [line.split(" ", 2)[1] for line in stash])
    found = find(repo, target, rows)
    affected = with_descendants(rows, set(found.commits))
    _refuse_work_trees(repo, affected)
    return Survey(rows, refs, stash, found, affected)


def shown(repo: Repo, seen: Survey) -> Preview:
    """Return what a person is told of a survey."""
    found, git = seen.found, repo.shop.git
    moving = [ref for ref in seen.refs if ref.commit in seen.affected]
    head = repo.head()
    present = files_at(git, head) if head else {}
    citing = sorted(path for path, entry in present.items() if entry.id in found.edited and is_indexed(path))
    paths = Words(found.paths) if found.paths and not found.target.text else Words(())
    words = Words([*paths.texts, *long_enough(found.needles)])
    naming = []
    for path, entry in sorted(present.items()):
        if entry.id in found.blobs or path in found.paths or not is_indexed(path):
            continue
        data = found.edited.get(entry.id) or repo.shop.reader.data(entry.id, "blob")
        if words.are_in(data):
            naming.append(path)
    signed = sum(
        answer is not None and b"\ngpgsig" in answer[2].split(b"\n\n", 1)[0]
        for answer in repo.shop.reader.each(sorted(seen.affected))
    )
    return Preview(
        found,
        tuple(sorted(found.paths)),
        len(found.blobs),
        len(seen.affected),
        signed,
        tuple(ref.name for ref in moving if not ref.name.startswith("refs/remotes/")),
        sum(line.split(" ", 2)[1] in seen.affected for line in seen.stash),
        tuple(citing),
        tuple(naming),
        tuple(_remotes(git, moving)),
    )


def refs_of(git: Git) -> list[Ref]:
    """Return all refs that are no mere names of others."""
    form = "%(refname)%00%(objectname)%00%(objecttype)%00%(*objectname)%00%(symref)"
    rows = git.run("for-each-ref", f"--format={form}").out.decode("utf-8", "surrogateescape").splitlines()
    fields = [row.split("\0") for row in rows]
    return [Ref(name, at, kind, peeled or at) for name, at, kind, peeled, symref in fields if not symref]


def _remotes(git: Git, moving: Sequence[Ref]) -> list[Remote]:
    """Return what remotes still hold, as far as this clone knows, with the commands that replace it there."""
    names = sorted(git.run("remote").out.decode().split(), key=len, reverse=True)
    where = f"git -C {quote(str(git.root))}"
    found = []
    for ref in moving:
        rest = ref.name.removeprefix("refs/remotes/")
        name = next((name for name in names if rest != ref.name and rest.startswith(f"{name}/")), "")
        if name:
            branch = f"refs/heads/{rest[len(name) + 1 :]}"
            lease = quote(f"--force-with-lease={branch}:{ref.id}")
            found.append(Remote(name, branch, f"{where} push {lease} {quote(name)} {quote(f'{ref.name}:{branch}')}"))
    tags = [ref.name for ref in moving if ref.name.startswith("refs/tags/")]
    found += [
        Remote(name, tag, f"{where} push --force {quote(name)} {quote(tag)}") for name in sorted(names) for tag in tags
    ]
    return found


def _stash_lines(repo: Repo) -> list[str]:
    """Return the lines of the stash's log; in each the second word is a commit."""
    path = repo.shop.place.common / "logs" / STASH
    try:
        return os.fsdecode(path.read_bytes()).splitlines(keepends=True)
    except FileNotFoundError:
        return []


def _refuse_unfit(repo: Repo) -> None:
    place, git = repo.shop.place, repo.shop.git
    where = f"git -C {quote(str(place.root))}"
    if (place.common / "shallow").exists():
        raise FabulaError(
            "ERR_GIT", f"{place.root}: the history here is cut off (a shallow clone)", f"{where} fetch --unshallow"
        )
    busy = next((name for name in _UNDER_WAY if (place.own / name).exists()), "")
    if busy:
        raise FabulaError(
            "ERR_GIT", f"{place.root}: git has something under way ({busy})", f"{where} status", "end it, then repeat"
        )
    if git.run("rev-parse", "--verify", "--quiet", "HEAD", allowed=(0, 1, 128)).status:
        raise FabulaError("ERR_NOT_FOUND", f"{place.root}: nothing was committed yet", f"{where} status")


def _refuse_work_trees(repo: Repo, affected: set[str]) -> None:
    """Refuse while another work tree has an affected commit checked out: its index and files would keep it."""
    place = repo.shop.place
    rows = repo.shop.git.run("worktree", "list", "--porcelain").out.decode("utf-8", "surrogateescape").split("\n\n")
    holding = []
    for row in rows:
        said = dict(line.partition(" ")[::2] for line in row.splitlines())
        path = said.get("worktree", "")
        is_here = path == "" or os.path.realpath(path) == os.path.realpath(place.root)
        if not is_here and "prunable" not in said and said.get("HEAD", "") in affected:
            holding.append(path)
    if holding:
        where = f"git -C {quote(str(place.root))}"
        raise FabulaError(
            "ERR_GIT",
            f"other work trees of this repository hold it too: {', '.join(holding)}",
            *(f"{where} worktree remove {quote(path)}" for path in holding),
        )
