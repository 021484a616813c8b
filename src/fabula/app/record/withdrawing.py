"""Taking a composed session back: its file goes when nothing was added to it, and the vault keeps every byte."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from fabula.app.record.rewriting import read_snapshot, require_idle
from fabula.hosts.claude.running import process_of
from fabula.hosts.claude.seams import is_ours, is_seam, may_hold_seam
from fabula.kernel.commands import record_command
from fabula.kernel.errors import FabulaError
from fabula.kernel.values import frozen
from fabula.record.map.files import file_at
from fabula.record.rewriting.gate import is_sealed
from fabula.record.vault.vault import Vault
from fabula.storage.files import disk_errors, sync_folder
from fabula.storage.locks import FileLock

if TYPE_CHECKING:
    from fabula.app.record.rewriting import Target
    from fabula.app.wiring import App
    from fabula.record.rewriting.plan import Snapshot

LOCK_WAIT_SECONDS = 60.0


@frozen
class Withdrawal:
    """A composed session whose file can go: its size, the generation (number) that keeps it, and since when (ms)."""

    size: int
    generation: int
    made_at: int


def withdrawal(app: App, target: Target) -> Withdrawal | None:
    """Say what withdrawing would do; ``None`` for a session that was not composed.

    Raises ``ERR_CHANGED`` when something was added since, ``ERR_UNSEALED``.
    """
    snapshot = read_snapshot(target)
    return _checked(app, target, snapshot) if was_composed(snapshot) else None


def was_composed(snapshot: Snapshot) -> bool:
    """Say whether a session was made by composing."""
    return may_hold_seam(snapshot.data) and any(is_seam(found.value) for found in snapshot.values)


def withdraw(app: App, target: Target) -> Withdrawal:
    """Remove a composed session's file. It can be restored; its threads stay in the record.

    That it was written a moment ago does not matter: only composing wrote to it. Raises as :func:`withdrawal`, and
    ``ERR_LIVE`` while an agent has it open, ``ERR_LOCKED``, ``ERR_READ_ONLY``.
    """
    app.refresh()  # seals what is there
    with FileLock(app.home.lock, LOCK_WAIT_SECONDS):
        _require_closed(app, target)
        snapshot = read_snapshot(target)
        done = _checked(app, target, snapshot)
        with disk_errors(target.path):
            if os.stat(target.path).st_size != len(snapshot.data):  # an agent came back to it while it was checked
                raise _gone_on(target)
            os.unlink(target.path)
            sync_folder(Path(target.path).parent)
    app.refresh()
    return done


def _has_more(snapshot: Snapshot) -> bool:
    """Say whether a file holds anything but whole values: a torn line, or one that nobody can read."""
    position = 0
    for found in snapshot.values:
        if snapshot.data[position : found.offset].strip():
            return True
        position = found.offset + found.length
    return bool(snapshot.data[position:].strip())


def _require_closed(app: App, target: Target) -> None:
    require_idle(app, target, target.file, live=True)
    process = process_of(target.session, Path(target.path).parents[2])
    if process is not None:
        raise FabulaError(
            "ERR_LIVE", f"session {target.session} is open in process {process}", "close it, and repeat the command"
        )


def _gone_on(target: Target) -> FabulaError:
    return FabulaError(
        "ERR_CHANGED",
        f"session {target.session} has gone on since it was composed: its file stays",
        f"take threads out of it instead: {record_command('excise', target.session)}",
    )


def _checked(app: App, target: Target, snapshot: Snapshot) -> Withdrawal:
    if _has_more(snapshot) or not all(is_ours(found.value, target.session) for found in snapshot.values):
        raise _gone_on(target)
    known = file_at(app.reader(), target.path, -1)
    generation = known.vault_generation if known is not None else None
    with Vault.open(app.home.vault, app.clock, read_only=True) as vault:
        row = vault.journal.generation(generation) if generation is not None else None
        if row is None or row.length != len(snapshot.data) or not is_sealed(vault, row.id, snapshot.data):
            raise FabulaError("ERR_UNSEALED", f"{target.path} has no sealed copy; it stays", "fabula record scan")
        return Withdrawal(row.length, row.number, row.begun_at)
