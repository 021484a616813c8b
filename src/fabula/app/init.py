"""The verb ``init``: Fabula's home, a memory, a workspace's ``.fable/``; each made where it is missing, else left.

Doing it again writes nothing. What belongs to somebody else is refused before anything is made.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

from fabula.app.workspace import IGNORED, WORKSPACE, make_workspace, top_of_work_tree, why_no_workspace
from fabula.kernel.errors import FabulaError
from fabula.kernel.values import field, frozen

if TYPE_CHECKING:
    from fabula.app.wiring import App

State = Literal["made", "completed", "there", "left out"]


@frozen
class InitRequest:
    """What to make; without any flag everything that is missing. ``folder``: where the one that was named goes."""

    folder: str = ""
    memory: bool = False
    workspace: bool = False


@frozen
class Part:
    """One thing that is there now. ``wrote``: the files that it took; ``commit``: the commit that they are in."""

    what: str
    path: str
    state: State
    wrote: list[str] = field(default_factory=list)
    commit: str | None = None
    note: str = ""


@frozen
class InitResult:
    """Every part, whether anything was written, and the commands that go on from here."""

    parts: list[Part]
    changed: bool
    next: list[str]


def init(app: App, request: InitRequest) -> InitResult:
    """Make what is missing.

    Raises ``ERR_USAGE`` for a folder that belongs to nothing, ``ERR_FOREIGN`` where the place is somebody else's,
    ``ERR_PATH`` where a file is in the way, ``ERR_CONFIG``, ``ERR_GIT``, ``ERR_LOCKED``, ``ERR_READ_ONLY``,
    ``ERR_DISK``.
    """
    if request.folder and request.memory == request.workspace:
        raise FabulaError(
            "ERR_USAGE",
            "a folder belongs to one of --memory and --workspace",
            "fabula init --memory DIR",
            "fabula init --workspace DIR",
        )
    everything = not (request.memory or request.workspace)
    folder = app.cwd / Path(request.folder).expanduser() if request.folder else None
    parts = []
    if everything:
        parts.append(_home(app))
    if everything or request.memory:
        parts.append(_memory(app, folder))
    if everything or request.workspace:
        part = _workspace(app, folder, is_asked=request.workspace)
        parts += [part] if part is not None else []
    return InitResult(parts, any(part.state in {"made", "completed"} for part in parts), _next(app, parts))


def _home(app: App) -> Part:
    from fabula.storage.files import ensure_folder

    root = app.home.root
    if root.is_dir():
        return Part("home", str(root), "there")
    if root.exists() or root.is_symlink():
        raise FabulaError("ERR_PATH", f"{root} is no folder", "set FABULA_HOME to a folder")
    ensure_folder(root)
    return Part("home", str(root), "made")


def _memory(app: App, folder: Path | None) -> Part:
    from fabula.memory.store.scaffold import init_corpus

    access = app.memory_at(folder)
    made = init_corpus(access.root, app.environment, app.clock)
    access.close()  # what was found before is not what is there now
    wrote = [*made.wrote, *made.restored]
    state: State = "made" if made.created else "completed" if wrote else "there"
    notes = [*made.notices]
    if access.root.resolve() != app.config["memory.root"].resolve():
        notes.append(f"it is used with --corpus, with FABULA_MEMORY, or as memory.root in {app.home.config}")
    return Part("memory", str(made.root), state, wrote, made.commit, "; ".join(notes))


def _workspace(app: App, folder: Path | None, *, is_asked: bool) -> Part | None:
    """Make a workspace's folder; ``None`` where none is due: outside of a work tree, unless it was asked for."""
    place = folder or app.cwd
    if is_asked and not place.is_dir():
        raise FabulaError("ERR_PATH", f"{place} is no folder", f"mkdir -p {place}")
    top = top_of_work_tree(place) or (place if is_asked else None)
    if top is None:
        return None
    why = why_no_workspace(top, app.user_home, (app.home.root, app.memory.root))
    if why is not None and is_asked:
        raise FabulaError("ERR_FOREIGN", f"{top} {why}", "name another folder: fabula init --workspace DIR")
    if why is not None:
        return Part("workspace", str(top / WORKSPACE), "left out", note=f"{top} {why}")
    is_new = not (top / WORKSPACE).exists()
    wrote = make_workspace(top)
    state: State = "there" if not wrote else "made" if is_new else "completed"
    return Part("workspace", str(top / WORKSPACE), state, [IGNORED] if wrote else [])


def _next(app: App, parts: list[Part]) -> list[str]:
    commands = []
    if any(part.what == "memory" for part in parts):
        commands.append("fabula remember 'one thing worth knowing next time'")
    if not app.home.map.exists():
        commands.append("fabula record scan")
    return [*commands, "fabula doctor"]
