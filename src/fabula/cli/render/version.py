"""Versions as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fabula.cli.output import Out
    from fabula.cli.verbs.version import VersionResult


def render(result: VersionResult, out: Out) -> None:
    """Write one line."""
    out.line(f"fabula {result.fabula} (Python {result.python}, SQLite {result.sqlite}, apsw {result.apsw})")
