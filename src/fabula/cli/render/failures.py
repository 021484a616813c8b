"""Errors met before, as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.cli.render.record_lines import counted
from fabula.kernel.clock import format_time

if TYPE_CHECKING:
    from fabula.app.record.failures import FailuresResult, Frequent, Occurrence
    from fabula.cli.output import Out


def render(result: FailuresResult, out: Out) -> None:
    """Write the same error before and what solved it, or the errors met most often."""
    if result.signature:
        _found(result, out)
    elif not result.frequent:
        more = "" if result.scope == "all" else "; every project: fabula record failures --all"
        out.line(f"no failures are recorded in {result.scope}{more}")
    else:
        _frequent(result, out)


def _found(result: FailuresResult, out: Out) -> None:
    out.line(out.dim(f"looked for: {result.signature}"))
    if not result.occurrences:
        more = "" if result.scope == "all" else "; every project: add --all"
        out.line(f"this error was not met in {result.scope}{more}")
    for occurrence in result.occurrences:
        out.line()
        _occurrence(occurrence, out)


def _occurrence(one: Occurrence, out: Out) -> None:
    alike = "" if one.match >= 1 else f" ({one.match:.0%} alike)"
    out.line(f"{out.bold(one.message)}{alike}")
    about = one.about or one.tool
    out.line(f"  {format_time(one.time)[:16]}  {one.project}  {one.host}  {about}")
    if one.resolution is None:
        out.line("  not resolved in that session")
    else:
        out.line("  resolved after:" if one.resolution.steps else "  resolved: the same call succeeded later")
        if one.resolution.omitted:
            out.line(out.dim(f"    … {one.resolution.omitted} earlier"))
        for step in one.resolution.steps:
            sign = {"command": "$ ", "words": "» "}.get(step.kind, "")
            out.line("    " + sign + step.text.replace("\n", "\n      "))
            for line in step.detail.split("\n") if step.detail else ():
                out.line(out.dim("      " + line))
    out.line(f"  read on: {one.read_on}")


def _frequent(result: FailuresResult, out: Out) -> None:
    where = "every project" if result.scope == "all" else result.scope
    out.line(out.bold(f"errors met most often in {where}"))
    for one in result.frequent:
        _line(one, out)
    out.line(out.bold("newest"))
    for occurrence in result.occurrences:
        end = "resolved" if occurrence.resolution else "open"
        out.line(f"  {format_time(occurrence.time)[:16]}  {end:<8}  {occurrence.message[: out.width]}")
    out.line("what solved one: fabula record failures MESSAGE")


def _line(one: Frequent, out: Out) -> None:
    times = "time" if one.count == 1 else "times"
    counts = f"{one.count:>5} {times}, {one.resolved} resolved, {counted(one.sessions, 'session')}"
    out.line(f"  {counts}, last {format_time(one.last_time)[:10]}  {one.message[: out.width]}")
