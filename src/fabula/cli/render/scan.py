"""The account of a scan as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.cli.progress import megabytes

if TYPE_CHECKING:
    from fabula.app.record.scan import ScanResult
    from fabula.cli.output import Out

_SHOWN = 10


def render(result: ScanResult, out: Out) -> None:
    """Write what was read now, what everything amounts to, and what could not be read."""
    totals = result.totals
    out.line(
        f"read {out.bold(f'{totals.files_read:,} files')} ({megabytes(totals.bytes_read)}), "
        f"{totals.records_added:,} records are new; {totals.files_unchanged:,} files unchanged"
    )
    skipped = sum(totals.skipped.values())
    out.line(
        f"in all {totals.files:,} files, {megabytes(totals.bytes)}: {totals.objects:,} objects, "
        f"{totals.indexed:,} indexed, {skipped:,} sealed and counted only"
    )
    if totals.recovered or totals.unreadable_bytes:
        out.line(f"{totals.recovered:,} objects recovered after errors, {totals.unreadable_bytes:,} bytes unreadable")
    if totals.files_vanished:
        out.line(f"{totals.files_vanished:,} files vanished since the last scan; the vault keeps them")
    failed = [(file.path, file.error) for file in result.files if file.error]
    problems = dict(failed) | {problem.path: problem.reason for problem in result.problems}
    for path, reason in list(problems.items())[:_SHOWN]:
        out.line(f"could not read {path}: {reason}")
    if len(problems) > _SHOWN:
        out.line(out.dim(f"and {len(problems) - _SHOWN} more (--json names all)"))
