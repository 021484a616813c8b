"""The verb ``memory read``: one memory, as it lies in the work tree. Opening it is logged; nothing is written to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fabula.app.memory.changing import located, path_of
from fabula.kernel.values import frozen

if TYPE_CHECKING:
    from pathlib import Path

    from fabula.app.wiring import App
    from fabula.memory.store.reading import Memory


@frozen
class ReadRequest:
    """``name``: a path, or a name that only one memory has. ``html``: print the file's own bytes."""

    name: str
    html: bool = False
    session: str = ""
    corpus: Path | None = None


@frozen
class Relation:
    """A relation that stands in the memory's head."""

    relation: str
    path: str


@frozen
class ReadResult:
    """A memory: its head (metas by name, repeated ones as lists), what its article says, and the file itself.

    ``text`` is the article's text with its lines; ``confidence_now`` has decayed since it was written or reinforced.
    """

    path: str
    title: str
    type: str
    claim: str
    text: str
    html: str
    archived: bool
    superseded_by: str | None
    workspace: str | None
    confidence: float
    confidence_now: float
    importance: int
    created: str
    updated: str
    event: str | None
    tags: tuple[str, ...]
    entities: tuple[str, ...]
    facets: dict[str, list[str]]
    links: tuple[Relation, ...]
    citations: tuple[str, ...]
    metas: dict[str, Any]
    content_hash: str
    fact_hash: str
    warnings: tuple[str, ...]
    logged: bool
    print_html: bool
    notices: tuple[str, ...]


def read(app: App, request: ReadRequest) -> ReadResult:
    """Read a memory. Raises ``ERR_NO_MEMORY``, ``ERR_PATH``, ``ERR_AMBIGUOUS``, ``ERR_MEMORY_FORMAT``."""
    from fabula.memory.store.reading import read_memory

    access = app.memory_at(request.corpus)
    root = access.corpus().root
    path = path_of(access, request.name)
    with located(access, path):
        memory = read_memory(root, path)
    state = access.state().states([memory.path]).get(memory.path)
    confirmed = (state.last_reinforced if state is not None else None) or 0
    logged = access.state().read([memory.path], request.session)
    now = access.clock.now_ms()
    return _result(memory, confirmed, now, request, logged=logged, notices=access.notices)


def _result(
    memory: Memory, confirmed: int, now: int, request: ReadRequest, *, logged: bool, notices: tuple[str, ...]
) -> ReadResult:
    from fabula.memory.format.paths import target_of
    from fabula.memory.format.vocabulary import REPEATABLE, relation_of
    from fabula.memory.index.projection import workspace_of

    reading, head, content = memory.reading, memory.reading.head, memory.reading.content
    metas: dict[str, Any] = {}
    for meta in reading.metas:
        if meta.name in REPEATABLE:
            metas.setdefault(meta.name, []).append(meta.content)
        else:
            metas[meta.name] = meta.content
    facets: dict[str, list[str]] = {}
    for facet in content.facets:
        facets.setdefault(facet.name, []).append(facet.value)
    links = [Relation(relation_of(link.rel) or link.rel, target_of(link.href)) for link in reading.links]
    confidence = 1.0 if head.confidence is None else head.confidence
    return ReadResult(
        path=memory.path,
        title=reading.title,
        type=head.type,
        claim=content.claim,
        text=content.text,
        html=reading.source.text,
        archived=memory.path.startswith("archive/"),
        superseded_by=target_of(head.superseded_by) if head.superseded_by else None,
        workspace=workspace_of(memory.path),
        confidence=confidence,
        confidence_now=_confidence_now(confidence, head.type, head.updated, confirmed, now),
        importance=5 if head.importance is None else head.importance,
        created=head.created,
        updated=head.updated,
        event=content.event_at,
        tags=head.tags,
        entities=head.entities,
        facets=facets,
        links=tuple(links),
        citations=head.cites,
        metas=metas,
        content_hash=reading.content_hash,
        fact_hash=reading.fact_hash,
        warnings=tuple(map(str, reading.warnings)),
        logged=logged,
        print_html=request.html,
        notices=notices,
    )


def _confidence_now(confidence: float, kind: str, updated: str, confirmed: int, now: int) -> float:
    from fabula.kernel.clock import parse_time
    from fabula.memory.standing.decay import confidence_now

    return confidence_now(confidence, kind, max(parse_time(updated) or 0, confirmed), now)
