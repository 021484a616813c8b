"""What an import took into the memory, or would, as text."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fabula.app.memory.taking_over import TakenResult
    from fabula.cli.output import Out

SHOWN = 20


def render(result: TakenResult, out: Out) -> None:
    """Write what is new, how much was known, and why anything was left out."""
    what = "1 memory" if len(result.taken) == 1 else f"{len(result.taken):,} memories"
    verb = "taken over" if result.applied else "would be taken over"
    out.line(f"{out.bold(what)} {verb} from {result.source}; {len(result.known):,} known before")
    for one in result.taken[:SHOWN]:
        out.line(f"  {one.path}  {out.dim(one.title)}")
    if len(result.taken) > SHOWN:
        out.line(out.dim(f"  … {len(result.taken) - SHOWN:,} more"))
    for reason, count in Counter(one.reason for one in result.skipped).most_common():
        first = next(one.key for one in result.skipped if one.reason == reason)
        more = f" and {count - 1:,} more" if count > 1 else ""
        out.line(out.dim(f"left out: {first}{more}: {reason}"))
    for notice in result.notices:
        out.line(out.dim(notice))
    if not result.applied and result.taken:
        out.line(out.dim("do it: the same command without --dry-run"))
