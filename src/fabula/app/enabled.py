"""Is Fabula on: at all (``FABULA_DISABLE=1``, ``enabled = false``), and here? Light, because every command asks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.kernel.errors import FabulaError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from fabula.app.config import Config
    from fabula.app.wiring import App


def require_enabled(app: App) -> None:
    """Raise ``ERR_DISABLED``, with the way back, where Fabula is switched off."""
    config = app.config
    enabled = config.settings["enabled"]
    if not enabled.value:
        if enabled.origin == "environment":
            raise FabulaError("ERR_DISABLED", "Fabula is switched off by FABULA_DISABLE", "unset FABULA_DISABLE")
        raise FabulaError("ERR_DISABLED", f"{config.file} switches Fabula off", f"set enabled = true in {config.file}")
    if is_off(config, app.cwd):
        raise FabulaError("ERR_DISABLED", f"Fabula is switched off in {app.cwd}", "fabula on")


def is_off(config: Config, folder: Path) -> bool:
    """Say whether a folder lies in a project that is switched off."""
    off = config["off_projects"]
    return bool(off) and any(lies_in(place, off) for place in (folder, project_of(folder)))


def lies_in(folder: Path, projects: Iterable[Path]) -> bool:
    """Say whether a folder is one of some projects, or lies in one."""
    return any(project == folder or project in folder.parents for project in projects)


def project_of(folder: Path) -> Path:
    """Return the root of the repository's main work tree; outside a repository the folder itself."""
    from fabula.storage.repository import find_repository

    repository = find_repository(folder)
    return repository.root if repository else folder
