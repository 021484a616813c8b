"""What word of memories came to, as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.cli.render.memory_lines import notices

if TYPE_CHECKING:
    from fabula.app.memory.reinforce import ReinforceResult
    from fabula.cli.output import Out


def render(result: ReinforceResult, out: Out) -> None:
    """Write each memory and how it stands."""
    for one in result.memories:
        counted = "" if one.counted else "  (too soon after the last: not counted)"
        facts = f"opened {one.accesses}×, judged {one.reinforcements}×, outcome {one.outcome:+.2f}"
        out.line(f"{out.bold(one.path)}  {result.signal}: {facts}{out.dim(counted)}")
    notices(result.notices, out)
