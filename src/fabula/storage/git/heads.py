"""What HEAD is, read from git's own files: a look that costs no process.

Formats: ``gitrepository-layout(5)``; ``packed-refs`` as ``git-pack-refs(1)`` writes it. Whatever has another form (a
reftable, a ref that names a ref) is left to git.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from fabula.storage.git.values import ABSENT

if TYPE_CHECKING:
    from pathlib import Path

_ID = re.compile("[0-9a-f]{40}|[0-9a-f]{64}")


def git_folders(root: Path) -> tuple[Path, Path] | None:
    """Return the git folder of a work tree and the one that all its work trees share; ``None``: they are not plain."""
    own = root / ".git"
    if not own.is_dir():
        said = _line(own)
        if said is None or not said.startswith("gitdir: "):
            return None
        own = root / said.removeprefix("gitdir: ")
        if not own.is_dir():
            return None
    common = _line(own / "commondir")
    return own, own if common is None else own / common


def head_of(own: Path, common: Path) -> str | None:
    """Return the commit that HEAD is, empty when nothing was committed yet; ``None``: only git can tell."""
    said = _line(own / "HEAD")
    if said is None:
        return None
    name = said.removeprefix("ref: ")
    if name == said:
        return said if _ID.fullmatch(said) else None
    if not name.startswith("refs/heads/") or name.endswith("/.invalid") or (common / "reftable").exists():
        return None
    found = _line(common / name)
    if found is not None:
        return found if _ID.fullmatch(found) else None
    return _packed(common / "packed-refs", name)


def _packed(path: Path, name: str) -> str:
    """Return what the packed refs say of a name; empty where they do not name it."""
    try:
        text = path.read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return ABSENT
    rows = (line.split(" ", 1) for line in text.splitlines() if _ID.match(line))
    return next((row[0] for row in rows if row[1:] == [name]), ABSENT)


def _line(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8", errors="surrogateescape").strip()
    except OSError:
        return None
