"""A relation as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.cli.render.memory_lines import commit_note, notices

if TYPE_CHECKING:
    from fabula.app.memory.link import LinkResult
    from fabula.cli.output import Out


def render(result: LinkResult, out: Out) -> None:
    """Write the relation as it stands, or no longer does."""
    arrow = f"{result.source} {out.bold(result.relation)} {result.target}"
    if result.unchanged:
        out.line(f"{'it stands already' if result.linked else 'there is no such relation'}: {arrow}")
    else:
        out.line(f"{'' if result.linked else 'no longer: '}{arrow}{commit_note(result.commit, out)}")
    notices(result.notices, out)
