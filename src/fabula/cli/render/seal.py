"""The result of sealing as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fabula.app.record.seal import SealResult
    from fabula.cli.output import Out


def render(result: SealResult, out: Out) -> None:
    """Write what was sealed, what the vault holds, and what could not be read."""
    out.line(
        f"sealed {result.bytes_sealed / 1e6:,.1f} MB of {result.files_sealed:,} files; "
        f"{result.files_unchanged:,} files were sealed before"
    )
    held = result.vault
    out.line(
        f"the vault holds {held.sealed_bytes / 1e6:,.1f} MB of {held.sources:,} files in "
        f"{held.stored_bytes / 1e6:,.1f} MB"
    )
    for problem in result.problems:
        out.line(out.dim(f"could not read {problem.path}: {problem.reason}"))
