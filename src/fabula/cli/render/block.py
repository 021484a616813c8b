"""A record's bytes and nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fabula.app.record.block import BlockResult
    from fabula.cli.output import Out


def render(result: BlockResult, out: Out) -> None:
    """Write the bytes exactly as they are."""
    out.raw(result.to_bytes())
