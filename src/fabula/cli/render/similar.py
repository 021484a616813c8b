"""Similar conversations as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.cli.render.record_lines import moment, notes
from fabula.cli.render.search import highlighted

if TYPE_CHECKING:
    from fabula.app.record.similar import SimilarResult
    from fabula.cli.output import Out


def render(result: SimilarResult, out: Out) -> None:
    """Write the threads that are most alike, and what they were compared by."""
    out.line(out.dim(f"like {result.thread}, by {', '.join(result.terms[:8])}"))
    for hit in result.hits:
        out.line(f"{moment(hit.time)}  {out.bold(hit.title or hit.session_title or '(no prompt)')}")
        if hit.excerpt:
            out.line(f"{'':16}  {highlighted(hit.excerpt, hit.marks, out)}")
        out.line(out.dim(f"{'':16}  {hit.project} · {hit.command}"))
    if not result.hits:
        out.line("nothing is like it" + ("" if result.scope == "all" else f" in {result.scope} (--all: every project)"))
    notes(result.fresh, out)
