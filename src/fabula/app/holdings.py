"""What Fabula keeps in its home: the one list of files that are its own. Nothing else in the folder is ever removed."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from fabula.kernel.values import frozen

if TYPE_CHECKING:
    from collections.abc import Iterator

_DATABASE = r"(?:-wal|-shm|-journal)?"
#: (path below the home, what it is, whether it is made anew from the rest)
_KINDS: tuple[tuple[str, str, bool], ...] = (
    (r"config\.toml|\.config\.toml\.\d+\.tmp", "settings", False),
    (r"fabula-copy\.json|\.fabula-copy\.json\.\d+\.tmp", "mark of a copy", False),
    (r"writer\.lock|vault/vault\.lock", "locks", False),
    (rf"map\.db{_DATABASE}", "map", True),
    (r"rewriting|\.rewriting\.\d+\.tmp", "note of a rewriting", False),
    (r"scratch/fabula-[^/]+/.+", "copies for one scan", True),
    (r"logs/defects\.log", "log of defects", True),
    (r"vault/(?:key|converting)\.json|vault/\.(?:key|converting)\.json\.\d+\.tmp", "key file of the vault", False),
    (rf"vault/journal(?:\.damaged|\.new|\.converted)?\.db{_DATABASE}", "journal of the vault", False),
    (r"vault/packs/(?:records|images|journal)-\d{6,}\.pack", "packs of the vault", False),
)
_MATCHERS = tuple((re.compile(pattern), what, derived) for pattern, what, derived in _KINDS)


@frozen
class Held:
    """A file in the home; ``what`` is empty where it is none of Fabula's."""

    path: Path
    what: str
    size: int
    derived: bool = False


def held(root: Path) -> Iterator[Held]:
    """Yield every file below the home, links not followed, in the order of paths."""
    for folder, folders, names in os.walk(root):
        folders.sort()
        links = [name for name in folders if Path(folder, name).is_symlink()]
        for name in sorted([*names, *links]):
            yield _described(root, Path(folder, name))


def _described(root: Path, path: Path) -> Held:
    relative = path.relative_to(root).as_posix()
    size = path.lstat().st_size
    if not path.is_symlink():
        for matcher, what, derived in _MATCHERS:
            if matcher.fullmatch(relative):
                return Held(path, what, size, derived)
    return Held(path, "", size)


def remove_derived(root: Path) -> None:
    """Remove what is made anew from the rest, the map's log first. The caller holds the writer lock."""
    files = [one.path for one in held(root) if one.derived]
    for path in sorted(files, key=lambda path: (path.name == "map.db", path)):
        path.unlink(missing_ok=True)
