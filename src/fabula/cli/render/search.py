"""Search results as text: what matched, where and when, and the command to read on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.cli.render.record_lines import counted, moment, notes

if TYPE_CHECKING:
    from fabula.app.record.finding import SearchHit
    from fabula.app.record.search import SearchResult
    from fabula.cli.output import Out


def render(result: SearchResult, out: Out) -> None:
    """Write the results, what limits them, and how to go on."""
    for word, meant in result.corrections.items():
        out.line(out.dim(f"nothing says {word}; looked for {meant}"))
    if result.weak:
        out.line(f"weak: no conversation holds much of this (the best {result.coverage:.0%})")
    for number, hit in enumerate(result.hits, 1):
        _hit(hit, number, result, out)
    if not result.hits:
        where = "the whole record" if result.scope == "all" else result.scope
        if result.number:
            out.line(f"no more results: there are {result.number} candidates in {where}; use a smaller --offset")
        else:
            out.line(f"nothing found in {where}")
        if result.scope != "all":
            out.line(out.dim("look in every project: --all"))
    elif result.number > len(result.hits):
        out.line(out.dim(f"{len(result.hits)} of {result.number} candidates; more: --offset, --limit"))
    if result.explain:
        out.line(out.dim(f"vectors: {result.meaning}"))
    notes(result.fresh, out)


def _hit(hit: SearchHit, number: int, result: SearchResult, out: Out) -> None:
    facts = [hit.project, hit.host, counted(hit.records, "record"), f"~{counted(hit.tokens, 'token')}"]
    out.line(f"{out.bold(f'{number}.')} {moment(hit.time)}  {out.dim(' · '.join(facts))}")
    title = hit.title or hit.session_title
    if title:
        out.line(f"   {title}")
    if hit.excerpt:
        out.line(f"   {highlighted(hit.excerpt, hit.marks, out)}")
    out.line(out.dim(f"   {hit.command}"))
    if result.explain:
        for name, part in hit.arms.items():
            out.line(out.dim(f"   {name:9} {part.raw:9.4f}  scaled {part.scaled:.4f}  weight {part.weight:g}"))
        out.line(out.dim(f"   {'score':9} {hit.score:9.4f}  coverage {hit.coverage:.0%}"))


def highlighted(text: str, marks: tuple[tuple[int, int], ...], out: Out) -> str:
    """Mark the matches of an excerpt: in bold on a terminal, between « and » elsewhere."""
    pieces: list[str] = []
    position = 0
    for start, end in marks:
        matched = text[start:end]
        pieces += (text[position:start], out.mark(matched) if out.styled else f"«{matched}»")
        position = end
    return "".join([*pieces, text[position:]])
