"""A file's history as text."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from fabula.kernel.clock import format_time

if TYPE_CHECKING:
    from fabula.app.record.file import FileResult, FileVersion
    from fabula.cli.output import Out


def render(result: FileResult, out: Out) -> None:
    """Write what was asked for: contents, a difference, or the list of versions."""
    if result.diff is not None:
        out.write(result.diff or "the two versions are equal\n")
    elif result.shown is not None:
        out.write(result.content or "")
    else:
        _history(result, out)


def _history(result: FileResult, out: Out) -> None:
    out.line(out.bold(result.path))
    for other in result.paths[1:]:
        out.line(out.dim(f"  also {other}"))
    for version in result.versions:
        out.line(_version(version, several=len(result.paths) > 1))
        if version.note:
            out.line(out.dim(f"      {version.note}"))
    for uid, reason in result.unreadable:
        out.line(out.dim(f"  record {uid} cannot be read: {reason}"))
    last = result.versions[-1]
    out.line(f"the turn of the last one: {last.read_on}")
    out.line(f"contents of one: fabula record file {shlex.quote(result.path)} --show N; what changed: --diff A B")


def _version(version: FileVersion, *, several: bool) -> str:
    size = "deleted" if version.deleted else "unknown" if version.bytes is None else f"{version.bytes} bytes"
    where = f"  {version.path}" if several else ""
    turn = version.thread[:8] or version.record[:8]
    return (
        f"{version.number:>4}  {format_time(version.time)[:16]}  {version.operation:<8} {size:>14}  "
        f"{version.fidelity:<7}  {version.host}  {turn}{where}"
    )
