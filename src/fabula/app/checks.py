"""The checks of ``fabula doctor``: each looks at one thing and returns what it saw."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

from fabula.app.doctor import Check
from fabula.app.enabled import require_enabled
from fabula.app.status import folder_bytes, is_erasing, map_state, source_folders
from fabula.kernel.errors import FabulaError
from fabula.storage.database import structural_problem

if TYPE_CHECKING:
    from fabula.app.wiring import App

SCAN = "fabula record scan"
REPAIR = "fabula record verify --repair"
LITTLE_SPACE = 500_000_000  # bytes
DAY_MS = 86_400_000
SHOWN_FOLDERS = 5


def config(app: App) -> Check:
    """Can the settings be read?"""
    try:
        file = app.config.file
    except FabulaError as error:
        return Check("config", "bad", error.message, list(error.suggestions))
    return Check("config", "good", str(file) if file.exists() else "no file: every setting has its default")


def home(app: App) -> Check:
    """Can Fabula write its own data?"""
    root = app.home.root
    if not root.exists():
        parent = next(folder for folder in root.parents if folder.exists())
        if not os.access(parent, os.W_OK | os.X_OK):
            return Check("home", "bad", f"{root} cannot be made", [f"chmod u+rwx {quote(str(parent))}"])
        return Check("home", "warning", f"{root} does not exist yet", [SCAN])
    if not root.is_dir():
        return Check("home", "bad", f"{root} is no folder", [f"mv {quote(str(root))} {quote(f'{root}.old')}"])
    if not os.access(root, os.R_OK | os.W_OK | os.X_OK):
        return Check("home", "bad", f"{root} cannot be written", [f"chmod u+rwx {quote(str(root))}"])
    return Check("home", "good", str(root))


def disk(app: App) -> Check:
    """Is there room to write?"""
    place = next(folder for folder in (app.home.root, *app.home.root.parents) if folder.exists())
    free = shutil.disk_usage(place).free
    if free < LITTLE_SPACE:
        return Check(
            "disk",
            "bad",
            f"{_gigabytes(free)} free on the disk of {place}",
            [f"free some space: df -h {quote(str(place))}"],
        )
    return Check("disk", "good", f"{_gigabytes(free)} free")


def switch(app: App) -> Check:
    """Is Fabula on, here?"""
    try:
        require_enabled(app)
    except FabulaError as error:
        return Check("switch", "warning", error.message, list(error.suggestions))
    return Check("switch", "good", "on")


def sources(app: App) -> Check:
    """Is there anything to record?"""
    found = [source for source in source_folders(app) if source.exists]
    if not found:
        return Check(
            "sources",
            "warning",
            "no coding agent has written anything where Fabula looks",
            [f"name their folders in {app.config.file}, as in: record.claude_roots = ['/path/to/.claude']"],
        )
    return Check("sources", "good", ", ".join(f"{source.host} ({source.path})" for source in found))


def folders(app: App) -> Check:
    """Can everything below the sources be looked into?"""
    problems: list[tuple[str, str]] = []
    files = 0
    for source in app.sources():
        files += sum(1 for _ in source.discover())
        problems += source.problems()
    if problems:
        shown = "; ".join(f"{path}: {reason}" for path, reason in problems[:SHOWN_FOLDERS])
        more = f"; and {len(problems) - SHOWN_FOLDERS} more" if len(problems) > SHOWN_FOLDERS else ""
        barred = [path for path, _ in problems[:SHOWN_FOLDERS] if not Path(path).is_symlink()]  # chmod follows links
        return Check("folders", "warning", shown + more, [f"chmod -R u+rX {quote(path)}" for path in barred])
    return Check("folders", "good", f"{files} files can be reached")


def vault(app: App) -> Check:
    """Does the vault open, and is its journal whole? Whether every record is, ``fabula record verify`` says."""
    from fabula.record.vault.folder import JOURNAL, require_journal
    from fabula.record.vault.vault import Vault

    folder = app.home.vault
    try:
        require_journal(folder)
        if not (folder / JOURNAL).exists():
            return Check("vault", "warning", "nothing is sealed yet", [SCAN])
        with Vault.open(folder, app.clock, read_only=True) as found:
            problem = structural_problem(found.journal.connection, found.journal.path)
    except FabulaError as error:
        return Check("vault", "bad", error.message, list(error.suggestions))
    return Check("vault", "bad", problem, [REPAIR]) if problem else Check("vault", "good", str(folder))


def copy(app: App) -> Check:
    """Is this a copy?"""
    what = f"{app.home.root} is a copy of a vault: it can be verified and restored from, and only copying writes to it"
    return Check("copy", "good", what)


def erasing(app: App) -> Check:
    """Is what was forgotten erased from every file?"""
    try:
        unfinished = is_erasing(app.home.vault)
    except FabulaError as error:
        return Check("erasing", "bad", error.message, list(error.suggestions))
    if not unfinished:
        return Check("erasing", "good", "nothing is left to erase")
    message = "what was forgotten cannot be reached any more, but is not yet erased from every file"
    return Check("erasing", "bad", message, [SCAN])


def map_of_the_record(app: App) -> Check:
    """Does the map open, is it of this version, and is every page of it whole?"""
    state = map_state(app)
    if not state.exists:
        return Check("map", "warning", "nothing is indexed yet", [SCAN])
    if state.problem:
        return Check("map", "bad", state.problem, list(state.remedies) or ["fabula record rebuild"])
    problem = structural_problem(app.reader(), app.home.map)
    if problem:
        return Check("map", "bad", problem, ["fabula record rebuild"])
    return Check("map", "good", f"{state.records} records of {state.sessions} sessions")


def size(app: App) -> Check:
    """Do vault and map keep within their budget?"""
    used = folder_bytes(app.home.vault) + map_state(app).bytes
    budget = app.config["record.size_budget_mb"] * 1_000_000
    if used > budget:
        wanted = used * 3 // 2 // 1_000_000 + 1
        return Check(
            "size",
            "warning",
            f"vault and map weigh {_gigabytes(used)}, the budget is {_gigabytes(budget)}",
            [f"set record.size_budget_mb = {wanted} in {app.config.file}"],
        )
    return Check("size", "good", f"{_gigabytes(used)} of {_gigabytes(budget)}")


def retention(app: App) -> Check:
    """Is everything taken in before the agent deletes it?"""
    from fabula.hosts.claude.retention import retention_days

    roots: list[Path] = [root for root in app.config["record.claude_roots"] if root.is_dir()]
    if not roots:
        return Check("retention", "good", "Claude Code is not here")
    days = min(retention_days(root) for root in roots)
    scanned = map_state(app).scanned_at
    if scanned is None:
        return Check("retention", "warning", f"Claude Code deletes transcripts after {days} days", [SCAN])
    age = max(0, app.clock.now_ms() - scanned) // DAY_MS
    message = f"Claude Code deletes transcripts after {days} days, the last scan was {age} days ago"
    late = age > 0 and age * 2 >= days
    return Check("retention", "warning", message, [SCAN]) if late else Check("retention", "good", message)


def keeping(app: App) -> Check:
    """What may the vault let go?"""
    from fabula.app.vault.keeping import in_words, rules_of

    return Check("keeping", "good", in_words(rules_of(app.config)))


def _gigabytes(size: float) -> str:
    return f"{size / 1e9:.1f} GB" if size >= 1e9 else f"{size / 1e6:.0f} MB"
