"""A rewriting taken back, as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.cli.render.record_lines import moment

if TYPE_CHECKING:
    from fabula.app.record.undo import UndoResult
    from fabula.cli.output import Out


def render(result: UndoResult, out: Out) -> None:
    """Write which rewriting goes, what comes back, and what stays."""
    out.line(f"{out.bold(result.session)}  {result.path}")
    did = "took back" if result.applied else "would take back"
    if result.kind == "compose":
        out.line(f"{did} its composition: the file goes, the vault keeps its {result.before:,} bytes")
    else:
        _bytes(result, did, out)
    if result.kept:
        out.line(f"{result.kept:,} bytes that were added since are kept")
    if result.next:
        out.line(out.dim(f"do it: {result.next}"))


def _bytes(result: UndoResult, did: str, out: Out) -> None:
    out.line(f"{did} the {result.kind} of {moment(result.made_at)} UTC: the bytes of generation {result.generation}")
    out.line(f"{result.before:,} bytes, {'now' if result.applied else 'would be'} {result.after:,}")
