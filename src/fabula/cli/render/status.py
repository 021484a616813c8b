"""The status as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.cli.progress import megabytes
from fabula.cli.render.record_lines import counted
from fabula.kernel.clock import format_time

if TYPE_CHECKING:
    from fabula.app.status import MapState, StatusResult
    from fabula.cli.output import Out


def render(result: StatusResult, out: Out) -> None:
    """Write what a person asks first: is it on, what does it hold, how current is it."""
    state = "off" if not result.enabled else "off in this project" if result.off_here else "on"
    out.line(f"Fabula {result.version} is {out.bold(state)}; its home is {result.home}")
    for source in result.sources:
        if source.exists:
            out.line(f"  source  {source.host:<12} {source.path}")
    absent = [f"{source.host} ({source.path})" for source in result.sources if not source.exists]
    if absent:
        out.line(out.dim(f"  not here: {', '.join(absent)}"))
    vault = megabytes(result.vault.bytes) if result.vault.exists else "nothing sealed yet: fabula record scan"
    out.line(f"  vault   {vault}")
    if result.vault.unfinished:
        out.line("          what was forgotten is not yet erased from every file: fabula record scan")
    out.line(f"  map     {_map(result.map)}")


def _map(state: MapState) -> str:
    if not state.exists:
        return "nothing indexed yet: fabula record scan"
    if state.problem:
        return f"{state.problem}: {state.remedies[0] if state.remedies else 'fabula record rebuild'}"
    span = f", {format_time(state.first_time)[:10]} to {format_time(state.last_time)[:10]}" if state.last_time else ""
    return (
        f"{counted(state.sessions, 'session')}, {counted(state.threads, 'thread')}, {counted(state.records, 'record')}"
        f" in {counted(state.files, 'file')}{span}; "
        f"{megabytes(state.bytes)}, last scan {format_time(state.scanned_at)[:16]}"
    )
