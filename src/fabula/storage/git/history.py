"""Reading what was committed: files of a tree, differences, the history of a path, the state at a moment, conflicts.

Names of commits may be whatever git understands (``HEAD``, a branch, an id); one that begins with ``-`` is refused.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from fabula.kernel.errors import FabulaError
from fabula.kernel.values import frozen
from fabula.storage.git.values import ABSENT, FOLDER_MODE, Entry

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from fabula.storage.git.program import Git
    from fabula.storage.git.reader import Reader

COPY_LETTERS = "RC"
KNOWN_LETTERS = "AMDTRC"


@frozen
class Difference:
    """What became of one path between two commits.

    ``kind``: ``A`` added, ``M`` modified, ``D`` deleted, ``T`` another type, ``R`` renamed, ``C`` copied; ``before`` is
    the path it had (renames and copies), ``score`` how alike both are in per cent.
    """

    kind: str
    path: str
    before: str = ""
    score: int = 100


@frozen
class Step:
    """A commit in the history of a path; ``path`` is where the file was then, ``at`` seconds since 1970."""

    commit: str
    at: int
    subject: str
    path: str


@frozen
class Conflict:
    """A path that cannot be merged by itself: blob ids of the common version and of both sides, empty where is none."""

    path: str
    base: str
    ours: str
    theirs: str


def resolve(git: Git, name: str) -> str:
    """Return the id of a commit, empty when there is none of this name."""
    words = ("rev-parse", "--verify", "--quiet", "--end-of-options", f"{_safe(name)}^{{commit}}")
    return git.run(*words, allowed=(0, 1, 128)).out.decode().strip()


def files_at(git: Git, commit: str, *folders: str) -> dict[str, Entry]:
    """Return path -> entry of all files of a commit, or of those below some folders. Raises ``ERR_GIT``."""
    rows = git.run("ls-tree", "-r", "-z", "--full-tree", _safe(commit), "--", *folders).out
    return parse_tree_rows(rows)


def parse_tree_rows(rows: bytes) -> dict[str, Entry]:
    """Read ``ls-tree -z``: ``MODE KIND ID<TAB>PATH`` each; rows without a tab are no entries."""
    found: dict[str, Entry] = {}
    for row in rows.split(b"\0"):
        head, tab, path = row.partition(b"\t")
        words = head.split()
        if tab and len(words) >= 3:
            found[os.fsdecode(path)] = Entry(words[0].decode(), words[2].decode())
    return found


def blobs(reader: Reader, entries: Iterable[tuple[str, Entry]]) -> Iterator[tuple[str, bytes]]:
    """Yield (path, bytes) of files, one at a time; those that the repository does not hold are left out."""
    wanted = [(path, entry) for path, entry in entries if entry.mode != FOLDER_MODE]
    found = reader.each(entry.id for _, entry in wanted)
    for (path, _), thing in zip(wanted, found, strict=True):
        if thing is not None and thing[1] == "blob":
            yield path, thing[2]


def file_at(reader: Reader, commit: str, path: str) -> bytes | None:
    """Return the bytes of a path in a commit, ``None`` when it has none."""
    found = reader.get(f"{_safe(commit)}:{path}")
    return found[2] if found is not None and found[1] == "blob" else None


def differences(git: Git, older: str, newer: str, *, renames: bool = True) -> list[Difference]:
    """Return what changed between two commits; from an empty name everything is new. Raises ``ERR_GIT``."""
    if older == ABSENT:
        return [Difference("A", path) for path in files_at(git, newer)]
    found = "-M" if renames else "--no-renames"
    words = ("diff-tree", "-r", "-z", "--name-status", found, "-l0", _safe(older), _safe(newer))
    return parse_name_status(git.run(*words).out)


def parse_name_status(rows: bytes) -> list[Difference]:
    """Read ``--name-status -z``: a letter (with a score) and one path, or two for renames and copies.

    A truncated end gives nothing; unknown letters are left out.
    """
    fields = [os.fsdecode(field) for field in rows.split(b"\0")[:-1]]
    found: list[Difference] = []
    at = 0
    while at < len(fields):
        letter, score = fields[at][:1], fields[at][1:]
        count = 3 if letter in COPY_LETTERS else 2
        paths = fields[at + 1 : at + count]
        at += count
        if len(paths) == count - 1 and letter in KNOWN_LETTERS and letter:
            before = paths[0] if count == 3 else ""
            found.append(Difference(letter, paths[-1], before, int(score) if score.isdecimal() else 100))
    return found


def history_of(git: Git, path: str, commit: str = "HEAD", *, limit: int = 0) -> list[Step]:
    """Return the commits that changed a path, newest first, through its renames. ``limit`` 0: all."""
    count = (f"--max-count={limit}",) if limit else ()
    words = ("log", "-z", "--follow", "-M", "--name-status", "--format=%x01%H%x00%ct%x00%s", *count)
    out = git.run("--literal-pathspecs", *words, _safe(commit), "--", path, allowed=(0, 128)).out
    steps: list[Step] = []
    for block in out.split(b"\x01")[1:]:
        identity, at, rest = block.split(b"\0", 2)
        subject, _, rows = rest.partition(b"\0")
        changed = parse_name_status(rows.lstrip(b"\n\0").rstrip(b"\0") + b"\0")
        where = changed[0].path if changed else path
        steps.append(Step(identity.decode(), int(at), subject.decode("utf-8", "replace"), where))
    return steps


def commit_at(git: Git, moment: int, commit: str = "HEAD") -> str:
    """Return the last commit on a branch's own line that is not newer than a moment; empty when there is none.

    ``moment``: seconds since 1970, by the committer's clock.
    """
    words = ("rev-list", "--first-parent", "--max-count=1", f"--before={moment}", _safe(commit))
    return git.run(*words).out.decode().strip()


def merge_base(git: Git, one: str, other: str) -> str:
    """Return the commit that two share, empty when they share none."""
    return git.run("merge-base", _safe(one), _safe(other), allowed=(0, 1)).out.decode().strip()


def merge_conflicts(git: Git, ours: str, theirs: str) -> list[Conflict]:
    """Return the paths that would conflict if two commits were merged; nothing is changed.

    Needs git 2.38 (``merge-tree --write-tree``). Raises ``ERR_GIT``.
    """
    answer = git.run("merge-tree", "--write-tree", "-z", "--no-messages", _safe(ours), _safe(theirs), allowed=(0, 1))
    return parse_stages(answer.out.partition(b"\0")[2]) if answer.status else []


def open_conflicts(git: Git) -> list[Conflict]:
    """Return the conflicts of a merge that is under way."""
    return parse_stages(git.run("ls-files", "--unmerged", "-z").out)


def parse_stages(rows: bytes) -> list[Conflict]:
    """Read rows ``MODE ID STAGE<TAB>PATH``: stage 1 is the common version, 2 ours, 3 theirs."""
    sides: dict[str, dict[str, str]] = {}
    for row in rows.split(b"\0"):
        head, tab, path = row.partition(b"\t")
        words = head.split()
        if tab and len(words) == 3:
            sides.setdefault(os.fsdecode(path), {})[words[2].decode()] = words[1].decode()
    return [
        Conflict(path, found.get("1", ABSENT), found.get("2", ABSENT), found.get("3", ABSENT))
        for path, found in sides.items()
    ]


def faults(git: Git) -> list[str]:
    """Check all objects; return what git finds wrong, a line each."""
    answer = git.run(
        "fsck", "--full", "--strict", "--no-dangling", "--no-progress", allowed=tuple(range(256)), limit=3600
    )
    lines = (answer.out + answer.err).decode("utf-8", "replace").splitlines()
    return [line for line in lines if line and not line.startswith("notice:")]


def _safe(name: str) -> str:
    if name.startswith("-") or not name:
        raise FabulaError("ERR_PATH", f"{name!r} is no name of a commit")
    return name
