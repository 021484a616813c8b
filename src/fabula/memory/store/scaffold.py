"""Making a corpus, or making it whole again: what is missing is added, what is there is left as it is."""

from __future__ import annotations

import json
from shlex import quote
from typing import TYPE_CHECKING

from fabula.kernel.errors import FabulaError
from fabula.kernel.values import frozen
from fabula.memory.store.excluding import RULES, ensure_excluded
from fabula.memory.store.messages import change_message
from fabula.memory.store.moment import Moment
from fabula.memory.store.opening import FORMAT, MARKER, VERSION, Corpus, Found, examine, nearest_folder
from fabula.memory.store.values import Provenance
from fabula.storage.files import PRIVATE_FOLDER, disk_errors, write_atomic
from fabula.storage.git.program import Git
from fabula.storage.git.values import Put
from fabula.storage.git.worktree import read_file

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from fabula.kernel.clock import Clock
    from fabula.memory.store.base import Base
    from fabula.storage.git.repo import Repo

BRANCH = "main"
KEPT = ".gitkeep"
FOLDERS = ("projects", "areas", "areas/arcs", "areas/inbox", "resources", "resources/people", "archive")
_IGNORED = (*RULES, "/.memhtml/index.db", "/.memhtml/index.db-*", "/.memhtml/state.db", "/.memhtml/state.db-*")
_ATTRIBUTES = ("index.html merge=ours", "sitemap.xml merge=ours", "*.html diff=html")
_README = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>A memory of facts</title>
</head>
<body>
<article>
<p><mark>Every other page here holds one fact, and git holds its history.</mark></p>
<dl>
<dt>projects</dt><dd>what is true of one piece of work</dd>
<dt>areas</dt><dd>what goes on, and what has no better place yet (inbox)</dd>
<dt>resources</dt><dd>what is true whoever works on what, by topic</dd>
<dt>archive</dt><dd>what no longer holds, by the year it ended; nothing is deleted</dd>
</dl>
</article>
</body>
</html>
"""
#: path -> text of what every corpus has.
SCAFFOLD: dict[str, str] = {
    MARKER: json.dumps({"format": FORMAT, "version": VERSION}) + "\n",
    ".gitattributes": "\n".join((*_ATTRIBUTES, "")),
    ".gitignore": "\n".join((*_IGNORED, "")),
    "README.html": _README,
    **{f"{folder}/{KEPT}": "" for folder in FOLDERS},
}
#: What may lie in a folder that a corpus is made in.
_OWN = frozenset({path.split("/")[0] for path in SCAFFOLD} | {".git", ".memhtml", ".DS_Store"})


@frozen
class Initialised:
    """A corpus that is whole.

    ``created``: no repository was there before. ``was``: what was found (see :class:`Found`). ``wrote`` are the files
    that a commit added, ``restored`` those that were missing in the work tree alone.
    """

    root: Path
    created: bool
    was: str
    commit: str | None
    head: str
    wrote: tuple[str, ...] = ()
    restored: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()


def init_corpus(root: Path, environ: Mapping[str, str], clock: Clock) -> Initialised:
    """Make a corpus at a folder, or make one whole; doing it again changes nothing.

    Raises ``ERR_FOREIGN`` for a folder inside of a repository, a repository of something else, or a folder with other
    things in it; ``ERR_PATH`` where a file is in the way; ``ERR_DISK``, ``ERR_READ_ONLY``, ``ERR_GIT``, ``ERR_LOCKED``.
    """
    found = examine(root)
    _refuse(found)
    created = not (root / ".git").exists()
    if created:
        _begin(root, environ)
    git = Git(root, environ)
    if git.run("config", "--local", "--get", "merge.ours.driver", allowed=(0, 1)).out.strip() != b"true":
        git.run("config", "--local", "merge.ours.driver", "true")
    notice = ensure_excluded(root)
    with Corpus(found, environ, hooks=False) as corpus:
        repo = corpus.repo()
        commit, wrote, restored = _complete(root, repo, Moment(clock.now_ms() // 1000))
        return Initialised(root, created, found.kind, commit, repo.head(), wrote, restored, (notice,) if notice else ())


def _complete(root: Path, repo: Repo, moment: Moment) -> tuple[str | None, tuple[str, ...], tuple[str, ...]]:
    """Commit what was never committed, put back what is missing in the work tree; return commit, both lists."""
    from fabula.memory.store.base import Base

    with repo.writing() as turn:
        base = Base(repo, turn.head)
        restored = tuple(path for path in SCAFFOLD if _is_lost(root, base, path))
        for path in restored:
            _restore(root, base, path)
        puts = [put for path, text in SCAFFOLD.items() if (put := _missing(root, base, path, text)) is not None]
        message = change_message("init", "the folders of a memory", Provenance())
        committed = turn.commit(puts, message, moment.git, ignored_too=True) if puts else None
    return (committed.id if committed else None), tuple(put.path for put in puts if committed), restored


def _missing(root: Path, base: Base, path: str, text: str) -> Put | None:
    """Return what adds a file that was never committed; one that a person has there, other than ours, is theirs."""
    if base.entry(path) is not None:
        return None
    there = read_file(root, path)
    data = text.encode()
    return Put(path, data) if there is None or there == data else None


def _is_lost(root: Path, base: Base, path: str) -> bool:
    return base.entry(path) is not None and read_file(root, path) is None


def _restore(root: Path, base: Base, path: str) -> None:
    data = base.data(path)
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    write_atomic(root / path, data, mode=0o644)


def _begin(root: Path, environ: Mapping[str, str]) -> None:
    with disk_errors(root):
        root.parent.mkdir(parents=True, exist_ok=True)
        if not root.is_dir():
            root.mkdir(PRIVATE_FOLDER)
    Git(root, environ).run("init", "--quiet", f"--initial-branch={BRANCH}")


def _refuse(found: Found) -> None:
    root = found.root
    elsewhere = "name another folder"
    if found.kind == "absent" and (root.exists() or root.is_symlink()):
        raise FabulaError("ERR_PATH", f"{root} is a file", elsewhere)
    if found.kind == "absent":
        found = examine(nearest_folder(root.parent))
        if found.kind in {"plain", "empty", "absent"}:
            return
        top = found.top or found.root
        raise FabulaError("ERR_FOREIGN", f"{root} would lie inside of the repository {top}", elsewhere)
    if found.kind == "inside":
        raise FabulaError("ERR_FOREIGN", f"{root} lies inside of the repository {found.top}", elsewhere)
    if found.kind in {"foreign", "bare"} and not _is_half_made(found):
        raise FabulaError("ERR_FOREIGN", f"{root} is a repository of something else", elsewhere)
    if found.kind == "newer":
        raise FabulaError("ERR_FOREIGN", f"{root} was made by a newer Fabula", "upgrade Fabula")
    strange = sorted(thing.name for thing in root.iterdir() if thing.name not in _OWN) if found.kind == "plain" else []
    if strange:
        message = f"{root} holds other things ({', '.join(strange[:3])}): a memory has a folder of its own"
        raise FabulaError("ERR_FOREIGN", message, f"fabula init --memory {quote(str(root / 'memory'))}")


def _is_half_made(found: Found) -> bool:
    """Whether a repository has nothing but what an init that was stopped left: scaffold, and no commit."""
    if found.kind != "foreign":
        return False
    from fabula.memory.store.opening import has_branch

    return not has_branch(found.root) and all(thing.name in _OWN for thing in found.root.iterdir())
