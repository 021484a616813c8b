"""Counts, sizes and cost as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.cli.progress import megabytes
from fabula.cli.render.record_lines import counted
from fabula.kernel.clock import format_time

if TYPE_CHECKING:
    from fabula.app.record.stats import Costs, Sizes, StatsResult
    from fabula.cli.output import Out
    from fabula.record.usage.counts import Counts
    from fabula.record.usage.summary import Usage


def render(result: StatsResult, out: Out) -> None:
    """Write counts, sizes, the budget, and what was asked for by groups."""
    out.line(f"{out.bold(result.scope)}: {_counts(result.total)}{_span(result.total)}")
    for host in result.hosts:
        out.line(f"  {host.key:<12} {_counts(host)}")
    if result.groups and result.by != "host":
        out.line(out.bold(f"by {result.by}"))
        for group in result.groups:
            out.line(f"  {group.key:<24} {_counts(group)}")
    whole = result.map
    out.line(
        f"everything: {counted(whole.files, 'source file')} ({whole.vanished} gone), {whole.copies:,} further copies, "
        f"{counted(whole.paths, 'file')} worked on, {counted(whole.failures, 'failure')} ({whole.resolved} resolved)"
    )
    _sizes(result.sizes, out)
    if result.costs is not None:
        _costs(result.costs, out)


def _counts(counts: Counts) -> str:
    agents = f" and {counted(counts.subagents, 'subagent')}" if counts.subagents else ""
    sessions, threads = counted(counts.sessions, "session"), counted(counts.threads, "thread")
    return f"{sessions}{agents}, {threads}, {counted(counts.records, 'record')}"


def _span(counts: Counts) -> str:
    if counts.first_time is None:
        return ""
    return f", {format_time(counts.first_time)[:10]} to {format_time(counts.last_time)[:10]}"


def _sizes(sizes: Sizes, out: Out) -> None:
    out.line(
        f"vault {megabytes(sizes.vault_bytes)} for {megabytes(sizes.sealed_bytes)} of transcripts, "
        f"map {megabytes(sizes.map_bytes)} for {megabytes(sizes.searchable_characters)} of searchable text"
    )
    used = sizes.vault_bytes + sizes.map_bytes
    state = "within" if sizes.within_budget else "over"
    out.line(f"{megabytes(used)} is {state} the budget of {megabytes(sizes.budget_bytes)} (record.size_budget_mb)")


def _costs(costs: Costs, out: Out) -> None:
    summary = costs.summary
    out.line(out.bold(f"usage by {summary.by}") + out.dim(f"  (each API response once; prices of {costs.prices_date})"))
    out.line(
        out.dim(
            f"  {'':<26} {'responses':>9} {'input':>13} {'cache write':>13} {'cache read':>14} {'output':>12}   US$"
        )
    )
    for usage in (*summary.groups, summary.total):
        out.line(_usage(usage))
    if summary.unknown_models:
        out.line(f"  without a price, so not in the cost: {', '.join(summary.unknown_models)}")


def _usage(usage: Usage) -> str:
    cost = "?" if usage.unpriced == usage.responses else f"{usage.cost:,.2f}" + ("+" if usage.unpriced else "")
    return (
        f"  {usage.key[:26]:<26} {usage.responses:>9,} {usage.input:>13,} {usage.cache_write:>13,} "
        f"{usage.cache_read:>14,} {usage.output:>12,}   {cost}"
    )
