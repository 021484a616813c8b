"""Finding a corpus: what lies at a folder, and opening it where it is a memory's. Looking changes nothing."""

from __future__ import annotations

import json
from shlex import quote
from typing import TYPE_CHECKING, Literal, Self

from fabula.kernel.errors import FabulaError
from fabula.kernel.values import frozen
from fabula.memory.format.bounds import LARGEST
from fabula.memory.format.paths import GENERATED, SUFFIX
from fabula.memory.format.reader import read
from fabula.memory.format.vocabulary import BUCKETS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from fabula.storage.git.repo import Repo

MARKER = ".fabula/corpus.json"
FORMAT, VERSION = "fabula-corpus", 1
ORIGINAL = ".memhtml"  # the folder of the format's first program
LOOKED_AT = 200  # files that are looked at to tell whose a repository is

Kind = Literal["ours", "memhtml", "absent", "empty", "plain", "inside", "foreign", "bare", "newer"]


@frozen
class Found:
    """What lies at ``root``.

    ``ours`` and ``memhtml`` are memories; ``newer`` is one of a later version. ``absent``: nothing is there; ``empty``:
    a folder or a fresh repository without anything in it; ``plain``: a folder that is no repository; ``inside``: one
    within the repository at ``top``; ``foreign``: a repository of something else; ``bare``: one without files.
    """

    kind: Kind
    root: Path
    top: Path | None = None

    @property
    def is_corpus(self) -> bool:
        """Whether it can be opened."""
        return self.kind in {"ours", "memhtml"}


class Corpus:
    """A memory that was found: its root, whose it is, its repository once it is asked for."""

    def __init__(self, found: Found, environ: Mapping[str, str], *, hooks: bool) -> None:
        self.root = found.root
        self.kind = found.kind
        self._environ = environ
        self._hooks = hooks
        self._repo: Repo | None = None

    def repo(self) -> Repo:
        """Return the repository. Raises ``ERR_GIT`` where git does not take it for one."""
        if self._repo is None:
            from fabula.storage.git.repo import Repo

            self._repo = Repo(self.root, self._environ, hooks=self._hooks)
        return self._repo

    def close(self) -> None:
        """End what serves it."""
        repo, self._repo = self._repo, None
        if repo is not None:
            repo.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def open_corpus(root: Path, environ: Mapping[str, str], *, hooks: bool = False) -> Corpus:
    """Open a memory. ``hooks``: the user's hooks run at commits. Nothing is made or changed.

    Raises ``ERR_NO_CORPUS`` for what is none, with the command that helps.
    """
    found = examine(root)
    if not found.is_corpus:
        is_file = found.kind == "absent" and (root.exists() or root.is_symlink())
        why = "is a file, not the folder of a memory" if is_file else _WHY_NOT[found.kind]
        raise FabulaError("ERR_NO_CORPUS", f"{root} {why}", *(_ELSEWHERE if is_file else _remedies(found)))
    return Corpus(found, environ, hooks=hooks)


def examine(root: Path) -> Found:
    """Say what lies at a folder. No process is started, nothing is changed."""
    if not root.is_dir():
        return Found("absent", root)
    if _is_bare(root):
        return Found("bare", root)
    if not (root / ".git").exists():
        top = next((folder for folder in root.resolve().parents if (folder / ".git").exists()), None)
        if top is not None:
            return Found("inside", root, top)
        return Found("plain" if any(root.iterdir()) else "empty", root)
    marker = _marker(root)
    if marker is not None:
        return Found("ours" if marker <= VERSION else "newer", root, root)
    if (root / ORIGINAL).is_dir() or _has_memories(root):
        return Found("memhtml", root, root)
    is_empty = all(thing.name == ".git" for thing in root.iterdir()) and not has_branch(root)
    return Found("empty" if is_empty else "foreign", root, root)


def _marker(root: Path) -> int | None:
    """Return the version that a corpus's marker names, ``None`` where it is none of ours."""
    try:
        said = json.loads((root / MARKER).read_bytes()[:LARGEST])
    except (OSError, ValueError, RecursionError):
        return None
    if not isinstance(said, dict) or said.get("format") != FORMAT:
        return None
    version = said.get("version")
    return version if type(version) is int else VERSION


def _has_memories(root: Path) -> bool:
    """Whether a file in one of the buckets is a memory; a bounded number is looked at."""
    for _, path in zip(range(LOOKED_AT), _pages(root), strict=False):
        try:
            data = path.read_bytes() if path.stat().st_size <= LARGEST else b""
        except OSError:
            continue
        if b"memhtml-type" in data and read(data).is_memory:
            return True
    return False


def _pages(root: Path) -> Iterator[Path]:
    for bucket in BUCKETS:
        if (root / bucket).is_symlink():
            continue
        for path in (root / bucket).rglob(f"*{SUFFIX}"):
            if path.name not in GENERATED and path.is_file() and not path.is_symlink():
                yield path


def _is_bare(root: Path) -> bool:
    return not (root / ".git").exists() and (root / "HEAD").is_file() and (root / "objects").is_dir()


def has_branch(root: Path) -> bool:
    """Whether anything was ever committed in a repository, as far as its folder shows; where that is unclear, yes."""
    from fabula.memory.store.excluding import common_folder

    folder = common_folder(root)
    if folder is None or (folder / "packed-refs").exists() or (folder / "reftable").exists():
        return True
    return any(path.is_file() for path in (folder / "refs" / "heads").rglob("*"))


_ELSEWHERE = ("name another folder with --corpus",)
_WHY_NOT = {
    "absent": "does not exist",
    "empty": "holds no memory yet",
    "plain": "is a folder, but no memory",
    "inside": "lies inside of a repository of something else",
    "foreign": "is a repository of something else: it has no .fabula/corpus.json",
    "bare": "is a repository without files",
    "newer": "was made by a newer Fabula",
}


def _remedies(found: Found) -> tuple[str, ...]:
    """Return what helps: ``init`` only where it would make a memory."""
    if found.kind == "newer":
        return ("upgrade Fabula",)
    around = nearest_folder(found.root)
    if found.kind in {"absent", "empty"} and (around == found.root or examine(around).kind in {"plain", "empty"}):
        return (f"fabula init --memory {quote(str(found.root))}",)
    if found.kind == "plain":
        return (f"fabula init --memory {quote(str(found.root / 'memory'))}",)
    return _ELSEWHERE


def nearest_folder(folder: Path) -> Path:
    """Return a folder, or the nearest one above it that is there."""
    while not folder.is_dir() and folder.parent != folder:
        folder = folder.parent
    return folder
