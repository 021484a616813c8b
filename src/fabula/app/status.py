"""Use case: where Fabula stands. Cheap: it opens nothing but the map and walks no transcripts."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from fabula.app.enabled import is_off
from fabula.kernel.errors import FabulaError
from fabula.kernel.values import frozen
from fabula.kernel.version import VERSION

if TYPE_CHECKING:
    from pathlib import Path

    from fabula.app.wiring import App


@frozen
class StatusRequest:
    """Nothing to ask."""


@frozen
class SourceFolder:
    """A folder that a coding agent writes its transcripts to."""

    host: str
    path: str
    exists: bool


@frozen
class MapState:
    """What the map holds; ``problem`` says why it cannot be read. Times are milliseconds since the epoch."""

    path: str
    exists: bool
    bytes: int = 0
    sessions: int = 0
    threads: int = 0
    records: int = 0
    files: int = 0
    first_time: int | None = None
    last_time: int | None = None
    scanned_at: int | None = None
    problem: str = ""
    remedies: tuple[str, ...] = ()  # commands, or plain advice, that clear the problem


@frozen
class VaultState:
    """The vault's folder and what it weighs. ``unfinished``: what was forgotten is not yet erased from all files."""

    path: str
    exists: bool
    bytes: int = 0
    unfinished: bool = False


@frozen
class StatusResult:
    """Home, switch, sources, vault and map at a glance."""

    version: str
    home: str
    enabled: bool
    off_here: bool
    sources: list[SourceFolder]
    vault: VaultState
    map: MapState


def status(app: App, request: StatusRequest) -> StatusResult:  # noqa: ARG001 - every handler is called alike
    """Return where Fabula stands. Raises ``ERR_CONFIG``."""
    return StatusResult(
        version=VERSION,
        home=str(app.home.root),
        enabled=app.config["enabled"],
        off_here=is_off(app.config, app.cwd),
        sources=source_folders(app),
        vault=vault_state(app),
        map=map_state(app),
    )


def vault_state(app: App) -> VaultState:
    """Weigh the vault. What is wrong with it, ``doctor`` says."""
    folder = app.home.vault
    try:
        unfinished = is_erasing(folder)
    except FabulaError:
        unfinished = False
    return VaultState(str(folder), folder.is_dir(), folder_bytes(folder), unfinished)


def is_erasing(vault: Path) -> bool:
    """Say whether an erasure was begun and is not finished. Raises ``ERR_DATABASE``, ``ERR_VAULT_FORMAT``."""
    from fabula.record.vault.folder import JOURNAL

    if not (vault / JOURNAL).exists():
        return False
    from fabula.record.vault.erasing import is_unfinished
    from fabula.record.vault.journal import Journal

    journal = Journal.open(vault, read_only=True)
    try:
        return is_unfinished(journal)
    finally:
        journal.close()


def source_folders(app: App) -> list[SourceFolder]:
    """Return every folder that the settings name as a source."""
    config = app.config
    named = [
        *(("claude", root) for root in config["record.claude_roots"]),
        ("codex", config["record.codex_home"]),
        ("gemini", config["record.gemini_home"]),
        ("opencode", config["record.opencode_data"]),
        ("copilot", config["record.copilot_home"]),
        ("goose", config["record.goose_data"]),
        ("cursor", config["record.cursor_home"]),
        ("kimi", config["record.kimi_home"]),
        ("kimi", config["record.kimi_cli_home"]),
        ("pi", config["record.pi_agent"] / "sessions"),
        *(("pi", root) for root in config["record.pi_sessions"]),
        *(("generations", root) for root in config["record.vault_roots"]),
    ]
    return [SourceFolder(host, str(path), path.is_dir()) for host, path in named]


def folder_bytes(folder: Path) -> int:
    """Return the size of the files below a folder; what cannot be looked at counts nothing."""
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.lstat(os.path.join(place, name)).st_size
            except OSError:
                continue
    return total


def map_state(app: App) -> MapState:
    """Count what the map holds."""
    path = app.home.map
    if not path.exists():
        return MapState(str(path), exists=False)
    from fabula.record.usage.counts import totals

    size = sum(file.stat().st_size for file in path.parent.glob(f"{path.name}*"))
    try:
        reader = app.reader()
        sessions, threads, records, files = totals(reader)
        span = reader.execute("select min(first_time), max(last_time) from sessions").fetchone()
        scanned = _one(reader.execute("select max(scanned_ns) from files"))
    except FabulaError as error:
        return MapState(str(path), exists=True, bytes=size, problem=error.message, remedies=error.suggestions)
    first, last = span or (None, None)
    return MapState(
        path=str(path),
        exists=True,
        bytes=size,
        sessions=sessions,
        threads=threads,
        records=records,
        files=files,
        first_time=first,
        last_time=last,
        scanned_at=scanned // 1_000_000 if scanned else None,
    )


def _one(cursor: object) -> int | None:
    row = next(iter(cursor), None)  # type: ignore[call-overload]
    return row[0] if row else None
