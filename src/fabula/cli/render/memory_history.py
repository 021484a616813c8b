"""The history of a memory as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.cli.render.memory_lines import SHORT, notices
from fabula.cli.render.record_lines import moment

if TYPE_CHECKING:
    from fabula.app.memory.history import HistoryResult
    from fabula.cli.output import Out
    from fabula.memory.past.versions import Version

_KINDS = {"A": "came", "M": "changed", "R": "moved", "D": "went"}


def render(result: HistoryResult, out: Out) -> None:
    """Write the versions, newest first."""
    out.line(out.bold(result.path))
    for version in result.versions:
        _version(version, out)
    notices(result.notices, out)


def _version(version: Version, out: Out) -> None:
    by = "" if version.op else "  (by hand)"
    out.line(f"{moment(version.at * 1000)}  {_KINDS[version.kind]:7}  {version.subject}{out.dim(by)}")
    facts = [version.commit[:SHORT]]
    facts += [f"{version.before} → {version.path}"] if version.before else []
    facts += [f"session {version.session}"] if version.session else []
    out.line(out.dim(f"{'':25}  {' · '.join(facts)}"))
