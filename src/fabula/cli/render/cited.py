"""What a citation rests on, as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fabula.app.joints.citing import Resolved
    from fabula.cli.output import Out


def render(result: Resolved, out: Out) -> None:
    """Write the quote with its surroundings, or why there is none."""
    from fabula.kernel.clock import format_time

    citation = result.citation
    if result.state == "forgotten":
        out.line(f"forgotten {format_time(result.forgotten_at or 0)}: {citation.record}")
    elif result.state == "missing":
        out.line(f"missing: {citation.record} ({result.note})")
    else:
        when = f", {format_time(citation.time)}" if citation.time is not None else ""
        gone = "" if result.origin == "live" else "  (the agent's own file no longer has it)"
        out.line(f"{result.kind} of {citation.host} session {citation.session}{when}{gone}")
        out.line("")
        out.line(f"{result.before.lstrip()}{out.mark(citation.quote)}{result.after.rstrip()}")
