"""What a memory rests on, as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.cli.render.record_lines import counted, moment

if TYPE_CHECKING:
    from fabula.app.joints.citing import Resolved
    from fabula.app.joints.citing_memory import SourcesResult
    from fabula.cli.output import Out

_NEVER = "  not handed out on this machine"


def render(result: SourcesResult, out: Out) -> None:
    """Write each citation with what it leads to, then the packs, where they were asked for."""
    out.line(f"{out.bold(result.title)}  {out.dim(result.path)}")
    if result.session:
        out.line(f"  written in session {result.session}")
    if not result.sources:
        out.line("  cites no record")
    for source in result.sources:
        _source(source, out)
    if result.used_by:
        _packs(result, out)
    for notice in result.notices:
        out.line(out.dim(notice))


def _source(source: Resolved, out: Out) -> None:
    citation = source.citation
    out.line()
    if source.state == "forgotten":
        when = moment(source.forgotten_at) if source.forgotten_at is not None else "at an unknown time"
        out.line(f"  forgotten {when}  {out.dim(citation.reference)}")
    elif source.state == "missing":
        out.line(f"  missing ({source.note})  {out.dim(citation.reference)}")
    else:
        gone = "" if source.origin == "live" else ", which the agent no longer has"
        out.line(f"  {source.kind} of {citation.host} session {citation.session}, {moment(citation.time)}{gone}")
        out.line(f"  {out.dim(citation.reference)}")
    for line in citation.quote.splitlines():
        out.line(f"  > {out.mark(line) if source.state == 'found' else line}")


def _packs(result: SourcesResult, out: Out) -> None:
    out.line()
    out.line(f"  handed out in {counted(len(result.packs), 'pack')} on this machine" if result.packs else _NEVER)
    for pack in result.packs:
        to = f" to session {pack.session}" if pack.session else ""
        asked = f": {pack.query}" if pack.query else ""
        out.line(f"  {moment(pack.at)}  {pack.reader}{to}{asked}  {out.dim(pack.id)}")
