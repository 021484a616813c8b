"""What became of a batch, as text: a line for each operation, then the sum."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.cli.render.memory_lines import commit_note, notices

if TYPE_CHECKING:
    from fabula.app.memory.apply import ApplyResult, Line
    from fabula.cli.output import Out

SHOWN = 40  # operations of which each gets its line


def render(result: ApplyResult, out: Out) -> None:
    """Write what failed, what was found besides, and the counts."""
    is_long = len(result.results) > SHOWN
    for line in result.results:
        if not is_long or _is_news(line):
            _line(line, out)
    if is_long:
        out.line(out.dim("  lines that were simply done or skipped are not shown: --json has all"))
    summary = result.summary
    parts = [f"{summary.written} written", f"{summary.deduped} known already"]
    more = {"consolidated": summary.consolidated, "failed": summary.failed, "skipped": summary.skipped}
    parts += [f"{number} {name}" for name, number in more.items() if number]
    out.line(f"{out.bold(str(summary.total))} in all: {', '.join(parts)}{commit_note(result.commit, out)}")
    if result.aborted:
        out.line("nothing was written, because a batch is all or nothing; to write the rest: --continue-on-error")
    if result.near_duplicates_checked is False:
        out.line(out.dim("note: near duplicates were not looked for: there are no vectors"))
    notices(result.notices, out)


def _is_news(line: Line) -> bool:
    """Say whether a line is worth showing among very many."""
    return bool(line.error or line.conflict or line.near_duplicates or line.superseded)


def _line(line: Line, out: Out) -> None:
    number = f"{line.index:>4} "
    if line.error is not None:
        out.line(f"{number} {out.mark('failed')} {line.error} [{line.code}]")
    elif line.skipped:
        out.line(out.dim(f"{number} skipped"))
    elif line.consolidated_into is not None:
        out.line(f"{number} carried by {line.consolidated_into}")
    else:
        out.line(f"{number} {'known ' if line.deduped else 'wrote '} {line.path}")
    if line.superseded is not None:
        out.line(out.dim(f"      took the place of {line.superseded}"))
    if line.conflict is not None:
        out.line(f"      conflict with {_place(line.conflict.path, line.conflict.batch_index)}: {line.conflict.claim}")
    for near in line.near_duplicates:
        out.line(f"      {near.similarity:.0%} like {_place(near.path, near.batch_index)}: {near.claim}")


def _place(path: str | None, batch_index: int | None) -> str:
    return path if path is not None else f"line {batch_index} of the batch"
