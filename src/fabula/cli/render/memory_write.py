"""What became of a write, as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.cli.render.memory_lines import commit_note, notices

if TYPE_CHECKING:
    from fabula.app.memory.write import WriteResult
    from fabula.cli.output import Out


def render(result: WriteResult, out: Out) -> None:
    """Write where the memory is, or which one says so already."""
    if result.deduped:
        out.line(f"known already: {out.bold(result.path)}")
        out.line(out.dim(f"  to change it: fabula memory correct {result.path}"))
    else:
        verb = "replaced" if result.replaced else "wrote"
        out.line(f"{verb} {out.bold(result.path)}{commit_note(result.commit, out)}")
        out.line(out.dim(f"  {result.type}: {result.title}"))
    notices(result.notices, out)
