"""Which project a folder belongs to, by the git metadata on disk (no git program is started)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def project_folders(folder: Path) -> tuple[Path, ...]:
    """Return the root of the work tree that holds ``folder``, then the root of its main work tree if that is another.

    Outside a repository the folder itself is the project.
    """
    for candidate in (folder, *folder.parents):
        marker = candidate / ".git"
        if marker.is_dir():
            return (candidate,)
        if marker.is_file():
            main = _main_tree(marker)
            return (candidate,) if main is None or main == candidate else (candidate, main)
    return (folder,)


def _main_tree(marker: Path) -> Path | None:
    """Follow a linked work tree's ``.git`` file to the repository's main work tree."""
    try:
        text = marker.read_text("utf-8", "surrogateescape")[:4096]
    except OSError:
        return None
    kind, _, target = text.strip().partition(": ")
    administration = (marker.parent / target).resolve()  # <main>/.git/worktrees/<name>
    common = administration.parent.parent
    linked = kind == "gitdir" and administration.parent.name == "worktrees" and common.name == ".git"
    return common.parent if linked else None
