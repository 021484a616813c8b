"""Use cases: switch Fabula off and on for a project."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.app.config import read_config
from fabula.app.enabled import lies_in, project_of
from fabula.app.tomledit import with_list
from fabula.kernel.errors import FabulaError
from fabula.kernel.values import frozen
from fabula.storage.files import ensure_folder, write_atomic

if TYPE_CHECKING:
    from pathlib import Path

    from fabula.app.wiring import App


@frozen
class SwitchRequest:
    """``folder`` lies in the project; ``""`` means the working directory."""

    folder: str = ""


@frozen
class SwitchResult:
    """How the project stands now, and whether that is news."""

    project: str
    enabled: bool
    changed: bool
    file: str


def switch_off(app: App, request: SwitchRequest) -> SwitchResult:
    """Switch Fabula off in a project. Raises ``ERR_PATH``, ``ERR_CONFIG``, ``ERR_READ_ONLY``, ``ERR_DISK``."""
    project = _project(app, request)
    off = app.config["off_projects"]
    if lies_in(project, off):
        return SwitchResult(str(project), enabled=False, changed=False, file=str(app.home.config))
    return _write(app, project, (*off, project), enabled=False)


def switch_on(app: App, request: SwitchRequest) -> SwitchResult:
    """Switch Fabula on again in a project. Raises what :func:`switch_off` raises."""
    project = _project(app, request)
    off = app.config["off_projects"]
    kept = tuple(folder for folder in off if folder != project and folder not in project.parents)
    if len(kept) == len(off):
        return SwitchResult(str(project), enabled=True, changed=False, file=str(app.home.config))
    return _write(app, project, kept, enabled=True)


def _project(app: App, request: SwitchRequest) -> Path:
    folder = app.cwd / request.folder
    if not folder.is_dir():
        raise FabulaError("ERR_PATH", f"{folder} is no folder", "name the project's folder, or none for this one")
    return project_of(folder.resolve())


def _write(app: App, project: Path, off: tuple[Path, ...], *, enabled: bool) -> SwitchResult:
    file = app.home.config
    before = file.read_bytes().decode() if file.exists() else ""
    after = with_list(before, "off_projects", [str(folder) for folder in off])
    if after is None:
        raise FabulaError("ERR_CONFIG", f"{file}: off_projects cannot be rewritten safely", f"edit {file} by hand")
    ensure_folder(file.parent)
    write_atomic(file, after.encode())
    read_config(file, app.environment, app.user_home)
    return SwitchResult(str(project), enabled=enabled, changed=True, file=str(file))
