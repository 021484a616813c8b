"""The verb ``memory list``: memories by path, page by page; nothing is ranked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.app.memory.lines import MemoryLine, line_of
from fabula.kernel.values import frozen

if TYPE_CHECKING:
    from pathlib import Path

    from fabula.app.wiring import App


@frozen
class ListRequest:
    """What to list; every filter must hold. ``cursor``: the last path of the page before."""

    type: tuple[str, ...] = ()
    workspace: str | None = None
    bucket: str | None = None
    tag: str | None = None
    entity: str | None = None
    facet: str | None = None
    session: str | None = None
    include_archived: bool = False
    limit: int = 50
    cursor: str | None = None
    corpus: Path | None = None


@frozen
class ListResult:
    """A page of memories by path, how many the whole list has, and where the next page begins (null: nowhere)."""

    memories: tuple[MemoryLine, ...]
    total: int
    next_cursor: str | None
    notices: tuple[str, ...]


def list_memories(app: App, request: ListRequest) -> ListResult:
    """List memories. Raises ``ERR_NO_CORPUS``, ``ERR_DATABASE``, ``ERR_USAGE`` for an entity that is none."""
    from fabula.app.memory.naming import entity_names
    from fabula.memory.index.values import Filters

    entity = entity_names([request.entity])[0] if request.entity is not None else None
    access = app.memory_at(request.corpus)
    index = access.refreshed()
    filters = Filters(
        types=request.type,
        workspace=request.workspace,
        bucket=request.bucket,
        tag=request.tag,
        entity=entity,
        facet=request.facet,
        session=request.session,
        archived=request.include_archived,
    )
    rows = index.listing(filters, request.cursor, request.limit + 1)
    page = rows[: request.limit]
    cursor = page[-1].path if len(rows) > len(page) else None
    return ListResult(tuple(map(line_of, page)), index.count(filters), cursor, access.notices)
