"""The result of a verification as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.cli.render.record_lines import counted

if TYPE_CHECKING:
    from fabula.app.record.verify import VerifyResult
    from fabula.cli.output import Out
    from fabula.record.vault.values import Damage, RepairReport

_SPANS = 20  # of a damage, that are shown


def render(result: VerifyResult, out: Out) -> None:
    """Write what was checked and each damage with what it hits."""
    if result.repaired is not None:
        _repair(result.repaired, out)
    checked = result.checked
    out.line(
        f"{out.bold('sound' if result.sound else 'damaged')}: {counted(checked.records, 'record')} in "
        f"{counted(checked.packs, 'pack')}, {counted(checked.generations, 'generation')} of "
        f"{counted(checked.sources, 'file')}, {checked.sealed_bytes / 1e6:,.1f} MB sealed in "
        f"{checked.stored_bytes / 1e6:,.1f} MB"
    )
    for damage in result.damages:
        _damage(damage, out)
    if not result.sound and result.repaired is None:
        out.line("fabula record verify --repair mends what the packs and the sources still hold")


def _repair(report: RepairReport, out: Out) -> None:
    out.line(
        f"repaired: {counted(report.records, 'record')} read back from {counted(report.packs, 'pack')}, "
        f"{report.mended:,} sealed again from their sources, {report.lost:,} lost"
    )
    for problem in report.problems:
        out.line(out.dim(f"  {problem}"))


def _damage(damage: Damage, out: Out) -> None:
    where = damage.place if damage.offset is None else f"{damage.place} at byte {damage.offset}"
    out.line(f"{where}: {damage.problem}")
    for span in damage.touched[:_SPANS]:
        out.line(f"  hits {span.path} (generation {span.generation}) bytes {span.offset}+{span.length}")
    if len(damage.touched) > _SPANS:
        out.line(out.dim(f"  and {len(damage.touched) - _SPANS} more spans (--json names all)"))
