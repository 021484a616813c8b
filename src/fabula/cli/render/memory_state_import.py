"""The state after all logs were folded, as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.cli.render.memory_lines import notices
from fabula.cli.render.record_lines import counted

if TYPE_CHECKING:
    from fabula.app.memory.state import StateImportResult
    from fabula.cli.output import Out


def render(result: StateImportResult, out: Out) -> None:
    """Write what the logs come to."""
    entries, machines = counted(result.entries, "entry"), counted(result.replicas, "machine")
    out.line(f"{entries} of {machines}, about {counted(result.memories, 'memory')}")
    out.line(
        out.dim(f"  {result.links:,} links to sessions, {result.packs:,} packs, {result.unexported:,} not exported")
    )
    notices(result.notices, out)
