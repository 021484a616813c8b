"""Which git repository a folder belongs to, read from git's own files: no process is started, nothing is written."""

from __future__ import annotations

import os
import re
from pathlib import Path

from fabula.kernel.values import frozen

POINTER_LIMIT = 4_096  # bytes of a .git file that are read
CONFIG_LIMIT = 262_144

_SECTION = re.compile(r'^\s*\[\s*(\w+)(?:\s+"((?:[^"\\]|\\.)*)")?\s*\]')
_URL = re.compile(r"^\s*url\s*=\s*(.+?)\s*$")
_SCP = re.compile(r"^(?:[^@/]+@)?([^:/]+):(?!//)(.+)$")


@frozen
class Repository:
    """A repository: its root (of the main work tree), its common git folder and its remote, if it has one."""

    root: Path
    common: Path
    remote: str = ""


def find_repository(folder: Path) -> Repository | None:
    """Return the repository around ``folder``; ``None`` outside of any, or where the folder is gone."""
    for place in (folder, *folder.parents):
        git = place / ".git"
        try:
            if git.is_dir():
                return _described(git)
            if git.is_file():
                common = _common_of(git)
                return _described(common) if common else None
        except (OSError, ValueError):  # a path with a NUL in it is no path
            return None
    return None


def _common_of(pointer: Path) -> Path | None:
    """Follow a worktree's ``.git`` file to the common git folder."""
    text = _read(pointer, POINTER_LIMIT)
    if not text.startswith("gitdir:"):
        return None
    own = Path(os.path.normpath(pointer.parent / text[7:].strip()))
    shared = _read(own / "commondir", POINTER_LIMIT).strip()
    return Path(os.path.normpath(own / shared)) if shared else own


def _described(common: Path) -> Repository:
    root = common.parent if common.name == ".git" else common
    return Repository(root, common, normal_remote(_remote_url(_read(common / "config", CONFIG_LIMIT))))


def _remote_url(config: str) -> str:
    """Return the URL of ``origin``, else of the first remote."""
    urls: dict[str, str] = {}
    remote = ""
    for line in config.splitlines():
        section = _SECTION.match(line)
        if section:
            remote = section[2] or "" if section[1].lower() == "remote" else ""
        elif remote and (url := _URL.match(line)):
            urls.setdefault(remote, url[1])
    return urls.get("origin") or next(iter(urls.values()), "")


def normal_remote(url: str) -> str:
    """Write a remote's URL the same way however it was cloned: ``host/path``, without user, scheme and ``.git``."""
    if not url or url.startswith(("/", ".", "file:")):
        return ""
    scp = _SCP.match(url)
    rest = f"{scp[1]}/{scp[2]}" if scp and "://" not in url else url.partition("://")[2].rpartition("@")[2]
    host, _, path = rest.partition("/")
    path = path.strip("/").removesuffix(".git")
    return f"{host.partition(':')[0].lower()}/{path}" if host and path else ""


def _read(path: Path, limit: int) -> str:
    try:
        with path.open("rb") as stream:
            return stream.read(limit).decode("utf-8", "replace")
    except OSError:
        return ""
