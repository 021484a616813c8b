"""What a memory cites of the record: checked when it is written, resolved for as long as the vault keeps the bytes.

The verb ``memory sources``: each citation of a memory with what it leads to, and the packs that handed the memory out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.app.joints import citing
from fabula.kernel.errors import FabulaError
from fabula.kernel.values import frozen

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from fabula.app.memory.access import MemoryAccess
    from fabula.app.wiring import App
    from fabula.kernel.citations import Citation
    from fabula.memory.state.values import Pack

READER = "memory write"


@frozen
class SourcesRequest:
    """``path``: a memory, also under a name that it had. ``used_by``: the packs that handed it out as well."""

    path: str
    used_by: bool = False
    corpus: Path | None = None


@frozen
class SourcesResult:
    """What a memory rests on: ``sources`` in the file's order. ``session`` is the one that wrote it, where it says so.

    ``packs`` are those of this machine, the newest first; empty unless they were asked for.
    """

    path: str
    title: str
    session: str
    sources: tuple[citing.Resolved, ...]
    used_by: bool
    packs: tuple[Pack, ...]
    notices: tuple[str, ...]


def citations_for(app: App, cites: Sequence[tuple[str, str]]) -> tuple[Citation, ...]:
    """Check what a memory is to cite, as (record, quote), and remember for good that it was cited.

    Raises ``ERR_QUOTE`` where the quote does not stand in the record word for word, and as ``record cite``.
    """
    return tuple(citing.cite(app, record, quote, reader=READER) for record, quote in cites)


def sources(app: App, request: SourcesRequest) -> SourcesResult:
    """Resolve what a memory cites. Raises ``ERR_NO_CORPUS``, ``ERR_NO_MEMORY``, ``ERR_PATH``, ``ERR_MEMORY_FORMAT``."""
    from fabula.memory.store.citing import citations_in
    from fabula.memory.store.reading import read_memory

    access = app.memory_at(request.corpus)
    path = _where(access, request.path)
    reading = read_memory(access.root, path).reading
    packs = tuple(access.state().packs_with(path)) if request.used_by else ()
    session = next((meta.content for meta in reading.metas if meta.name == "memhtml-session"), "")
    return SourcesResult(
        path,
        reading.title,
        session,
        tuple(_resolved(app, citation) for citation in citations_in(reading)),
        request.used_by,
        packs,
        tuple(access.notices),
    )


def _where(access: MemoryAccess, path: str) -> str:
    """Return where a memory is now: it may have been archived or renamed since. Raises ``ERR_AMBIGUOUS``."""
    from fabula.app.memory.changing import path_of

    index = access.refreshed()
    path = path_of(access, path)
    return index.resolve(path) or path


def _resolved(app: App, citation: Citation) -> citing.Resolved:
    """Resolve one citation; one that cannot be looked at keeps no other from it."""
    try:
        return citing.resolve(app, citation)
    except FabulaError as error:
        return citing.Resolved("missing", citation, note=error.message)
