"""The state plane in numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.memory.state.entries import LOCAL
from fabula.memory.state.sources import files_of
from fabula.memory.state.values import Summary

if TYPE_CHECKING:
    from pathlib import Path

    import apsw


def summed(connection: apsw.Connection, root: Path, replica: str) -> Summary:
    """Count what a state that was brought up to date holds, and what lies in the local log alone."""
    from fabula.memory.state.compacting import entries_of

    files = list(files_of(root))
    local = [path for _, kind, path in files if kind == "local"]
    tracked = [(name, path) for name, kind, path in files if kind == "tracked"]
    known = {entry.id for entry in entries_of(path for _, path in tracked)}
    waiting = [entry for entry in entries_of(local) if entry.kind not in LOCAL and entry.id not in known]
    counts = {table: _count(connection, table) for table in ("entries", "states", "links", "packs")}
    others = {name.split("/")[2] for name, _ in tracked}
    return Summary(
        replica,
        len(others | {replica} - {""}),
        counts["entries"],
        counts["states"],
        counts["links"],
        counts["packs"],
        local_bytes=sum(path.stat().st_size for path in local),
        unexported=len(waiting),
    )


def _count(connection: apsw.Connection, table: str) -> int:
    return sum(int(number) for (number,) in connection.execute(f"select count(*) from {table}"))
