"""What slimming saves, by category, as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.cli.render.record_lines import counted

if TYPE_CHECKING:
    from fabula.app.record.prune import CategoryLine, PruneResult
    from fabula.cli.output import Out


def render(result: PruneResult, out: Out) -> None:
    """Write the preview, or what was done, and the command that goes on from here."""
    out.line(f"{out.bold(result.session)}  {result.path}")
    for line in result.categories:
        if line.chosen and line.records:
            _category(line, out)
    others = [line for line in result.categories if not line.chosen and line.bytes > 0]
    if others:
        out.line(out.dim("not taken (name them with --only, --strip-images or --mode extract):"))
        for line in others:
            _category(line, out)
    if not result.next:
        out.line("nothing to take out")
        return
    share = 100 * (result.before - result.after) / result.before if result.before else 0
    did = "now" if result.applied else "would be"
    out.line(
        f"{result.before:,} bytes, {did} {result.after:,} ({share:.0f} % less); about {result.tokens:,} tokens less: "
        f"{counted(result.dropped, 'record')} dropped, {result.changed:,} shortened or linked anew"
    )
    if result.applied:
        out.line(
            f"sealed before: generation {result.generation}; as it is now: generation {result.slimmed_generation}. "
            "Every record is still served whole."
        )
        if result.tail:
            out.line(f"{result.tail:,} bytes that were added meanwhile are kept")
    out.line(out.dim(f"{'take it back' if result.applied else 'do it'}: {result.next}"))


def _category(line: CategoryLine, out: Out) -> None:
    text = f"  {line.key:<16}{line.records:>7,} records {line.bytes:>12,} bytes {line.tokens:>9,} tokens  {line.label}"
    out.line(text if line.chosen else out.dim(text))
