"""What the vault holds for nobody, as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fabula.app.vault.gc import GcResult
    from fabula.cli.output import Out

_SHOWN = 20  # generations


def render(result: GcResult, out: Out) -> None:
    """Write what may go or went, and what stays although the journal does not name it."""
    going = [stray for stray in result.strays if not stray.reason]
    if not (result.packs or result.unnamed or going or result.retired):
        out.line("nothing to collect")
    else:
        verb = "removed" if result.applied else "may go"
        for number, each in enumerate(result.retired):
            if number < _SHOWN:
                out.line(f"{verb}: generation {each.number} of file {each.source_id}, by the rule of {each.why}")
        if len(result.retired) > _SHOWN:
            out.line(f"{verb}: {len(result.retired) - _SHOWN:,} more generations")
        out.line(f"{verb}: {result.dead:,} records in {result.packs} packs that nothing refers to")
        if result.unnamed:
            out.line(f"{verb}: {result.unnamed:,} records that are part of no file")
        for stray in going:
            out.line(f"{verb}: {stray.name} ({stray.size:,} bytes), all of it is held elsewhere")
    for stray in result.strays:
        if stray.reason:
            out.line(out.dim(f"stays: {stray.name}: {stray.reason}"))
    if result.applied:
        out.line(f"{result.freed:,} bytes less on disk; {'NOT sound' if result.problems else 'verified, sound'}")
    elif result.packs or result.unnamed or going or result.retired:
        out.line(out.dim("nothing was changed; --apply does it"))
    for problem in result.problems:
        out.line(problem)
