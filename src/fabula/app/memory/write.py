"""The verb ``memory write``: one fact into one file, in one commit."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from fabula.app.memory.changing import located, provenance_of, with_consent
from fabula.app.memory.naming import entity_names
from fabula.app.memory.typed import Typed, read_typed, title_from
from fabula.kernel.errors import FabulaError
from fabula.kernel.values import frozen

if TYPE_CHECKING:
    from pathlib import Path

    from fabula.app.memory.access import MemoryAccess
    from fabula.app.wiring import App
    from fabula.kernel.citations import Citation
    from fabula.memory.store.values import NewMemory, Written


@frozen
class WriteRequest:
    """What to write. ``quote`` belongs to ``cite`` one by one, or all of them to the one record that is cited."""

    type: str
    claim: str | None = None
    body: tuple[str, ...] = ()
    article_html: str | None = None
    title: str | None = None
    path: str | None = None
    if_hash: str | None = None
    workspace: str | None = None
    tag: tuple[str, ...] = ()
    entity: tuple[str, ...] = ()
    facet: tuple[str, ...] = ()
    alias: tuple[str, ...] = ()
    importance: int | None = None
    confidence: float | None = None
    valid_from: str | None = None
    valid_until: str | None = None
    cite: tuple[str, ...] = ()
    quote: tuple[str, ...] = ()
    session: str = ""
    prompt: str = ""
    turn: str = ""
    allow_secret: bool = False
    corpus: Path | None = None


@frozen
class WriteResult:
    """The memory that states the fact now. ``deduped``: it did before, nothing was written (``commit`` is null).

    ``existing``: that memory; ``same_text``: memories that read alike but hold other values; ``logged``: a link from
    the session was kept.
    """

    path: str
    created: bool
    deduped: bool
    existing: str | None
    replaced: bool
    commit: str | None
    content_hash: str
    fact_hash: str
    title: str
    type: str
    same_text: tuple[str, ...]
    logged: bool
    notices: tuple[str, ...]


def write(app: App, request: WriteRequest) -> WriteResult:
    """Write a memory.

    Raises ``ERR_USAGE``, ``ERR_PATH``, ``ERR_MEMORY_FORMAT``, ``ERR_WRITE_CONFLICT``, ``ERR_SECRET``, ``ERR_CONSENT``,
    ``ERR_QUOTE`` and what citing raises, ``ERR_NO_CORPUS``, and what a commit raises.
    """
    access = app.memory_at(request.corpus)
    access.corpus()
    typed = read_typed(app, request.claim, request.body, request.article_html)
    new = _new_memory(request, typed, cited(app, request.cite, request.quote))
    return put(access, new, may_ask=request.allow_secret)


def put(access: MemoryAccess, new: NewMemory, *, may_ask: bool = False) -> WriteResult:
    """Write a memory and log it; what other verbs that write one use. Raises as :func:`write`."""
    from fabula.kernel.values import replace
    from fabula.memory.store.writing import write as write_new

    def change(allowed: bool) -> Written:
        return write_new(access.store(), replace(new, allow_secrets=allowed))

    with located(access, *(path for _, path in new.links)):
        written = with_consent(change, may_ask=may_ask)
    logged = written.commit is not None and access.state().wrote([written.path], new.provenance.session)
    return WriteResult(
        written.path, written.created, written.deduped, written.existing, written.replaced, written.commit,
        written.content_hash, written.fact_hash, new.title, new.type, written.same_text,
        logged, (*written.notices, *access.notices),
    )  # fmt: skip


def cited(app: App, records: tuple[str, ...], quotes: tuple[str, ...]) -> tuple[Citation, ...]:
    """Return the citations that ``--cite`` and ``--quote`` mean, checked. Raises ``ERR_USAGE``, ``ERR_QUOTE``, …"""
    if quotes and not records:
        raise FabulaError("ERR_USAGE", "a quote needs the record that it is from", "fabula help memory write")
    if not records:
        return ()
    if len(records) == 1:
        pairs = [(records[0], quote) for quote in quotes or ("",)]
    elif len(quotes) <= len(records):
        pairs = list(zip(records, (*quotes, *[""] * (len(records) - len(quotes))), strict=True))
    else:
        raise FabulaError("ERR_USAGE", f"{len(quotes)} quotes for {len(records)} records", "fabula help memory write")
    from fabula.app.joints.citing_memory import citations_for

    return citations_for(app, pairs)


def with_facets(markup: str, facets: tuple[str, ...]) -> str:
    """Return an article with facets (``name=value``) behind it, as a description list. Raises ``ERR_USAGE``."""
    if not facets:
        return markup
    pairs = [facet.partition("=") for facet in facets]
    for (name, _, value), facet in zip(pairs, facets, strict=True):
        if not name.strip() or not value.strip():
            raise FabulaError("ERR_USAGE", f"a facet is name=value, not {facet!r}", "--facet status=accepted")
    lines = [f"<dt>{escape(name.strip())}</dt><dd>{escape(value.strip())}</dd>" for name, _, value in pairs]
    return "\n".join([markup, "<dl>", *lines, "</dl>"])


def _new_memory(request: WriteRequest, typed: Typed, cites: tuple[Citation, ...]) -> NewMemory:
    from fabula.memory.store.values import NewMemory

    claim, body, markup = typed.claim, typed.body, typed.markup
    if request.facet:
        from fabula.memory.format.template import prose_markup

        claim, body, markup = "", (), with_facets(markup or prose_markup(claim, body), request.facet)
    return NewMemory(
        title=request.title or title_from(typed),
        type=request.type,
        claim=claim,
        body=body,
        article_html=markup,
        path=request.path,
        if_hash=request.if_hash,
        workspace=request.workspace,
        tags=request.tag,
        entities=entity_names(request.entity),
        aliases=request.alias,
        importance=request.importance,
        confidence=request.confidence,
        valid_from=request.valid_from,
        valid_until=request.valid_until,
        cites=cites,
        provenance=provenance_of(request),
    )
