"""One memory as text: what it claims, what else it says, how it stands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.cli.render.memory_lines import notices

if TYPE_CHECKING:
    from fabula.app.memory.read import ReadResult
    from fabula.cli.output import Out


def render(result: ReadResult, out: Out) -> None:
    """Write the memory, or its file as it is."""
    if result.print_html:
        out.raw(result.html.encode("utf-8", "replace"))
        return
    out.line(out.bold(result.title))
    out.line(out.dim(" · ".join([result.path, *_facts(result)])))
    if result.superseded_by is not None:
        out.line(f"no longer current: {result.superseded_by} took its place")
    out.line()
    out.line(_marked(result, out))
    _around(result, out)
    for warning in result.warnings:
        out.line(out.dim(f"warning: {warning}"))
    notices(result.notices, out)


def _facts(result: ReadResult) -> list[str]:
    confidence = f"confidence {result.confidence_now:.2g}"
    if result.confidence_now < result.confidence:
        confidence += f" (was {result.confidence:.2g})"
    facts = [result.type, confidence, f"importance {result.importance}", f"written {result.created[:10]}"]
    facts += [f"of {result.event[:10]}"] if result.event else []
    return facts + (["archived"] if result.archived else [])


def _marked(result: ReadResult, out: Out) -> str:
    text = result.text.strip()
    claim = result.claim
    return text.replace(claim, out.mark(claim), 1) if claim and out.styled else text


def _around(result: ReadResult, out: Out) -> None:
    lines = {
        "tags": ", ".join(result.tags),
        "about": ", ".join(result.entities),
        "cites": ", ".join(citation.partition(" ")[0] for citation in result.citations),
    }
    shown = [f"{name}: {value}" for name, value in lines.items() if value]
    shown += [f"{link.relation.replace('_', ' ')}: {link.path}" for link in result.links]
    if shown:
        out.line()
    for line in shown:
        out.line(out.dim(line))
