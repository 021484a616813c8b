"""What is forgotten of the memory, or would be, as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.app.memory.forget import preview_lines
from fabula.cli.render.record_lines import counted

if TYPE_CHECKING:
    from fabula.app.memory.forget import ForgetResult
    from fabula.cli.output import Out


def render(result: ForgetResult, out: Out) -> None:
    """Write the preview; after the deed what was done, and what a person has to do elsewhere."""
    if not result.applied:
        for line in preview_lines(result):
            out.line(line)
        out.line(out.dim("nothing was changed; with --apply you are asked for your consent"))
        return
    out.line(
        f"{out.bold('forgotten')}: {counted(result.versions, 'version')} of {counted(result.memories, 'memory')}; "
        f"{counted(result.commits, 'commit')} written anew, the last is {result.commit[:12]}"
    )
    if result.still:
        out.line(
            f"still there (in kept packs, or borrowed from another repository): {counted(len(result.still), 'version')}"
        )
        for blob in result.still:
            out.line(f"  {blob}")
    for path in result.left:
        out.line(f"{path}: changed meanwhile, and left as it is")
    if result.remotes:
        out.line("remotes hold it until these were run:")
        for one in result.remotes:
            out.line(f"  {one.command}")
