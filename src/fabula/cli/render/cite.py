"""A citation as it is pasted."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fabula.app.record.cite import CiteResult
    from fabula.cli.output import Out


def render(result: CiteResult, out: Out) -> None:
    """Write the citation and nothing else."""
    out.line(result.text)
