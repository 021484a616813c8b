"""Projects: the same repository under one key, whatever worktree or clone a session ran in."""

from __future__ import annotations

from pathlib import Path

from fabula.storage.repository import find_repository

UNKNOWN = "?"


def project_of(cwd: str) -> tuple[str, str]:
    """Return (key, label) of the project that a working directory belongs to.

    The key is the remote's address (clones and moves agree on it), else the common git folder (worktrees agree on
    it), else the folder itself. The label is what a person calls it.
    """
    if not cwd:
        return UNKNOWN, UNKNOWN
    repository = find_repository(Path(cwd)) if cwd.startswith("/") else None
    if repository is None:
        return cwd, cwd.replace("\\", "/").rstrip("/").rpartition("/")[2] or cwd
    label = repository.root.name.removesuffix(".git")
    return (repository.remote or str(repository.common)), label
