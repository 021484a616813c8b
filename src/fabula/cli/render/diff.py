"""Two generations of a file compared, as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fabula.app.record.diff import DiffResult, GenerationLine, RecordLine
    from fabula.cli.output import Out


def render(result: DiffResult, out: Out) -> None:
    """Write the sums, then the records that changed, went and came."""
    out.line(f"{out.bold(result.session)}  {result.path}")
    out.line(f"from {_generation(result.before)} to {_generation(result.after)}")
    before, after = result.changed_bytes
    out.line(f"  kept     {result.kept:>7,} records {result.kept_bytes:>12,} bytes")
    out.line(f"  changed  {result.changed:>7,} records {before:>12,} bytes, now {after:,}")
    out.line(f"  dropped  {result.dropped:>7,} records {result.dropped_bytes:>12,} bytes")
    out.line(f"  added    {result.added:>7,} records {result.added_bytes:>12,} bytes")
    for changed in result.changes:
        out.line()
        out.line(out.bold(f"changed {changed.id} ({changed.kind}): {changed.before:,} bytes, now {changed.after:,}"))
        for line in changed.diff:
            out.line(out.dim(line) if line.startswith(" ") else line)
    _more(len(result.changes), result.changed, "changed records", out)
    _list("dropped", result.drops, result.dropped, out)
    _list("added", result.additions, result.added, out)


def _generation(line: GenerationLine) -> str:
    made = f", by {line.kind}" if line.kind else ""
    return f"generation {line.number} ({line.provenance}{made}, {line.size:,} bytes)"


def _list(name: str, lines: tuple[RecordLine, ...], total: int, out: Out) -> None:
    if lines:
        out.line()
    for line in lines:
        out.line(f"{name} {line.id or 'no record'} ({line.kind}): {line.bytes:,} bytes")
    _more(len(lines), total, f"{name} records", out)


def _more(shown: int, total: int, what: str, out: Out) -> None:
    if shown < total:
        out.line(out.dim(f"and {total - shown:,} more {what} (--limit)"))
