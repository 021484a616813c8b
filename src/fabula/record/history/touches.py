"""Which files a record touches: what the map remembers so that a file's history can be found later. Pure and fast."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fabula.record.history.actions import operations
from fabula.record.history.paths import resolve

if TYPE_CHECKING:
    from fabula.kernel.records import Record
    from fabula.record.history.actions import Operation


def touched(record: Record) -> dict[str, Operation]:
    """Return what the record's calls or its snapshot do to files, by path in the record's order.

    Only calls of known tools are looked at; prose never names a file. Relative paths lie below ``record.cwd``. Of a
    file that is read and changed the change is told.
    """
    if record.kind == "snapshot":
        return dict.fromkeys(snapshot_backups(record), "snapshot")
    found: dict[str, Operation] = {}
    for block in record.blocks:
        if block.kind != "call":
            continue
        for path, operation in operations(block, record.cwd):
            if found.get(path, "read") == "read":
                found[path] = operation
    return found


def snapshot_backups(record: Record) -> dict[str, dict[str, Any]]:
    """Return the backups that a snapshot record lists: absolute path -> the host's own entry about it."""
    backups: dict[str, dict[str, Any]] = {}
    for block in record.blocks:
        listed = _listed(block.input)
        for path, entry in listed.items():
            if isinstance(path, str) and path and isinstance(entry, dict):
                folder = entry.get("realParentDir")
                backups[_backup_path(path, folder if isinstance(folder, str) else "", record.cwd)] = entry
    return backups


def _listed(value: object) -> dict[Any, Any]:
    """Find the table of backups in what the normaliser kept of the record."""
    if not isinstance(value, dict):
        return {}
    inner = value.get("snapshot")
    if isinstance(inner, dict):
        value = inner
    path = value.get("trackingPath")
    if isinstance(path, str):
        return {path: value.get("backup")}
    table = value.get("backups", value.get("trackedFileBackups", value))
    return table if isinstance(table, dict) else {}


def _backup_path(path: str, real_parent: str, folder: str) -> str:
    if real_parent and not path.startswith("/"):
        return resolve(path.replace("\\", "/").rpartition("/")[2], real_parent)
    return resolve(path, folder)
