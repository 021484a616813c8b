"""Which memories a session wrote, read, corrected or judged: ``memory links``, and a part of ``record session``.

What a session wrote is known twice: from the log of the corpus, and from the files, which carry the session's id also
where another program wrote them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.kernel.errors import FabulaError
from fabula.kernel.values import frozen

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from fabula.app.memory.access import MemoryAccess
    from fabula.app.wiring import App
    from fabula.memory.index.memory_index import MemoryIndex
    from fabula.memory.state.folding import Link

WROTE = "wrote"
WRITTEN_MOST = 1_000  # memories of one session that are looked for in the files


@frozen
class LinksRequest:
    """``session``: its id, or a beginning of it that is unique among those that the memory knows."""

    session: str
    corpus: Path | None = None


@frozen
class LinkedMemory:
    """What a session did with a memory, from when to when (ms). ``path`` and ``title`` are those of today.

    ``title`` is empty where the memory is gone.
    """

    path: str
    title: str
    action: str
    first: int
    last: int
    times: int
    archived: bool


@frozen
class LinksResult:
    """The memories of a session, by time."""

    session: str
    memories: tuple[LinkedMemory, ...]
    notices: tuple[str, ...]


def links(app: App, request: LinksRequest) -> LinksResult:
    """Return what a session did. Raises ``ERR_NO_CORPUS``, ``ERR_AMBIGUOUS``, ``ERR_DATABASE``."""
    access = app.memory_at(request.corpus)
    index = access.refreshed()
    session = _session(access, index, request.session.strip())
    return LinksResult(session, _linked(access, index, session), tuple(access.notices))


def memories_of(app: App, session: str) -> tuple[LinkedMemory, ...]:
    """Return what a session did with memories; nothing where there is no memory, or none that can be asked."""
    try:
        access = app.memory
        return _linked(access, access.refreshed(), session)
    except FabulaError:
        return ()


def _linked(access: MemoryAccess, index: MemoryIndex, session: str) -> tuple[LinkedMemory, ...]:
    from fabula.memory.index.values import Filters

    logged = access.state().links_of(session)
    known = {link.path for link in logged if link.action in (WROTE, "corrected")}
    filters = Filters(session=session, archived=True)
    written = [row for row in index.listing(filters, None, WRITTEN_MOST) if row.path not in known]
    rows = index.files([link.path for link in logged])
    found = [_of_link(link, rows.get(link.path)) for link in logged]
    found += [LinkedMemory(row.path, row.title, WROTE, row.created, row.created, 1, row.archived) for row in written]
    return tuple(sorted(found, key=lambda one: (one.first, one.path, one.action)))


def _of_link(link: Link, row: object) -> LinkedMemory:
    title, archived = getattr(row, "title", ""), bool(getattr(row, "archived", False))
    return LinkedMemory(link.path, title, link.action, link.first, link.last, link.times, archived)


def _session(access: MemoryAccess, index: MemoryIndex, beginning: str) -> str:
    """Return the session whose id begins so; what is known to nobody is taken as a whole id."""
    known = sorted({*access.state().sessions_named(beginning), *_written_by(index, beginning)})
    if beginning in known or not known:
        return beginning
    if len(known) > 1:
        shown = ", ".join(known[:5])
        raise FabulaError("ERR_AMBIGUOUS", f"{len(known)} sessions begin with {beginning!r}: {shown}", *_more(known))
    return known[0]


def _more(known: Sequence[str]) -> tuple[str, ...]:
    return tuple(f"fabula memory links {session}" for session in known[:3])


def _written_by(index: MemoryIndex, beginning: str) -> list[str]:
    question = "select distinct session from files where session >= ? and session < ? limit 100"
    return [str(one) for (one,) in index.ask(question, (beginning, beginning + "\U0010ffff"))]
