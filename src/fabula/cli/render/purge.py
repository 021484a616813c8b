"""What a purge removes, as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.app.purge import purge_lines

if TYPE_CHECKING:
    from fabula.app.purge import PurgeResult
    from fabula.cli.output import Out


def render(result: PurgeResult, out: Out) -> None:
    """Write the preview; after the deed, one line on what was done."""
    if result.applied:
        out.line(f"{out.bold('removed')}: all of Fabula's data in {result.folder}, {result.bytes:,} bytes")
        return
    for line in purge_lines(result):
        out.line(line)
    out.line(out.dim("nothing was changed; with --apply you are asked for your consent"))
