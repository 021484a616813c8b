"""Found memories as text: the claim with what matched, what it is about, and how to read on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.cli.render.memory_lines import day, notices
from fabula.cli.render.search import highlighted

if TYPE_CHECKING:
    from fabula.app.memory.search import SearchResult
    from fabula.cli.output import Out
    from fabula.memory.retrieval.values import Hit


def render(result: SearchResult, out: Out) -> None:
    """Write the results, what limits them, and how to go on."""
    if result.weak:
        out.line(f"weak: no memory says much of this (the best {result.coverage:.0%})")
    if result.is_listing and result.query.strip() and result.hits:
        out.line("no word to look for in this: the newest memories")
    for number, hit in enumerate(result.hits, 1):
        _hit(hit, number, result, out)
    if not result.hits:
        _nothing(result, out)
    elif result.number > len(result.hits):
        out.line(out.dim(f"{len(result.hits)} of {result.number}; more: --offset, --limit"))
    for reason in result.degraded:
        out.line(out.dim(f"not all of the search ran: {reason}"))
    notices(result.notices, out)


def _nothing(result: SearchResult, out: Out) -> None:
    where = "the memory" if result.scope == "all" else f"the workspace {result.scope}"
    if result.number:
        out.line(f"no more results: there are {result.number}; use a smaller --offset")
    else:
        out.line(f"nothing found in {where}{' within what it was narrowed to' if result.scope_empty else ''}")
        if result.scope != "all":
            out.line(out.dim("look in every workspace: --all"))


def _hit(hit: Hit, number: int, result: SearchResult, out: Out) -> None:
    facts = [
        hit.type,
        *([hit.workspace] if hit.workspace else []),
        day(hit.when),
        f"confidence {hit.confidence_now:.2g}",
    ]
    facts += ["archived"] if hit.archived else []
    out.line(f"{out.bold(f'{number}.')} {out.bold(hit.title)}  {out.dim(' · '.join(facts))}")
    out.line(f"   {highlighted(hit.snippet or hit.claim, hit.marks if hit.snippet else (), out)}")
    if hit.superseded_by is not None:
        out.line(f"   no longer current: {hit.superseded_by} took its place")
    out.line(out.dim(f"   {hit.path}{'  (has more, folded away)' if hit.has_details else ''}"))
    if result.explain:
        for name, part in hit.arms.items():
            out.line(
                out.dim(
                    f"   {name:9} rank {part.rank:<4} {part.raw:9.4f}  scaled {part.scaled:.4f}  weight {part.weight:g}"
                )
            )
        out.line(out.dim(f"   {'score':9} {hit.score:.4f}  coverage {hit.coverage:.0%}"))
