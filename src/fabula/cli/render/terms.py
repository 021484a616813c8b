"""Terms as text, by kind."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from fabula.cli.render.record_lines import notes

if TYPE_CHECKING:
    from fabula.app.record.terms import TermsResult
    from fabula.cli.output import Out


def render(result: TermsResult, out: Out) -> None:
    """Write the terms of each kind with the number of threads that have them."""
    for kind, group in groupby(result.terms, key=lambda one: one.kind):
        out.line(out.bold(kind))
        for one in group:
            out.line(f"{one.threads:6}  {one.term}")
    if not result.terms:
        where = "the record" if result.scope == "all" else f"{result.scope} (--all: every project)"
        out.line(f"no terms in {where}")
    notes(result.fresh, out)
