"""The verb ``memory correct``: a new memory takes the place of one that is no longer right."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.app.memory.changing import located, path_of, provenance_of, with_consent
from fabula.app.memory.naming import entity_names
from fabula.app.memory.typed import Typed, read_typed, title_from
from fabula.app.memory.write import cited, with_facets
from fabula.kernel.values import frozen

if TYPE_CHECKING:
    from pathlib import Path

    from fabula.app.wiring import App
    from fabula.kernel.citations import Citation
    from fabula.memory.format.reader import Reading
    from fabula.memory.store.values import Corrected, Correction


@frozen
class CorrectRequest:
    """What is corrected and to what; whatever is not said stays as the target has it.

    A title that was made of the old claim is made anew of the new one.
    """

    target: str
    claim: str | None = None
    body: tuple[str, ...] = ()
    article_html: str | None = None
    title: str | None = None
    type: str | None = None
    reason: str = ""
    path: str | None = None
    workspace: str | None = None
    tag: tuple[str, ...] = ()
    entity: tuple[str, ...] = ()
    facet: tuple[str, ...] = ()
    alias: tuple[str, ...] = ()
    importance: int | None = None
    confidence: float | None = None
    valid_from: str | None = None
    cite: tuple[str, ...] = ()
    quote: tuple[str, ...] = ()
    session: str = ""
    prompt: str = ""
    turn: str = ""
    allow_secret: bool = False
    corpus: Path | None = None


@frozen
class CorrectResult:
    """The memory that holds now, and where in the archive the corrected one is.

    ``deduped``: another memory said so already and has taken the target's place. ``unchanged``: the target says this
    itself. ``valid_from``: when the new fact became true and the old one ended.
    """

    target: str
    path: str
    archived: str | None
    created: bool
    deduped: bool
    unchanged: bool
    commit: str | None
    content_hash: str
    valid_from: str | None
    notices: tuple[str, ...]


_LEFT_BEHIND = "what stood behind the old claim is in the archive with it; --body takes over what still holds"


def correct(app: App, request: CorrectRequest) -> CorrectResult:
    """Correct a memory. Raises ``ERR_NO_MEMORY``, ``ERR_WRITE_CONFLICT`` for one in the archive, and as a write."""
    from fabula.kernel.values import replace
    from fabula.memory.store.correcting import correct as take_place
    from fabula.memory.store.reading import read_memory

    access = app.memory_at(request.corpus)
    target = path_of(access, request.target)
    typed = read_typed(app, request.claim, request.body, request.article_html, optional=True)
    with located(access, target):
        there = read_memory(access.corpus().root, target).reading
    title = request.title or _title(there, typed)
    typed = _with_facets(request, there, typed)
    correction = _correction(request, target, title, typed, cited(app, request.cite, request.quote))

    def change(allowed: bool) -> Corrected:
        return take_place(access.store(), replace(correction, allow_secrets=allowed))

    with located(access, target):
        done = with_consent(change, may_ask=request.allow_secret)
    if done.commit is not None:
        access.state().corrected(done.path, request.session, done.moves)
    notices = (*done.notices, *access.notices)
    had_more = there.content.text.strip() != there.content.claim.strip()
    if done.created and had_more and typed.claim and not typed.body:
        notices = (_LEFT_BEHIND, *notices)
    return CorrectResult(
        target, done.path, done.archived, done.created, done.deduped, done.unchanged, done.commit, done.content_hash,
        done.valid_from, notices,
    )  # fmt: skip


def _title(there: Reading, typed: Typed) -> str | None:
    """Return the title of a correction that names none: a title that was made of the old claim is made anew."""
    is_new = bool(typed.claim or typed.markup)
    return title_from(typed) if is_new and there.title == title_from(Typed(there.content.claim)) else None


def _with_facets(request: CorrectRequest, there: Reading, typed: Typed) -> Typed:
    """Return what was typed with its facets; facets alone are put behind the article that the target has."""
    if not request.facet:
        return typed
    from fabula.memory.format.template import prose_markup

    if typed.markup is None and not typed.claim:
        markup = there.document.article
    else:
        markup = typed.markup or prose_markup(typed.claim, typed.body)
    return Typed(markup=with_facets(markup, request.facet))


def _correction(
    request: CorrectRequest, target: str, title: str | None, typed: Typed, cites: tuple[Citation, ...]
) -> Correction:
    from fabula.memory.store.values import Correction

    return Correction(
        target=target,
        reason=request.reason,
        title=title,
        claim=typed.claim,
        body=typed.body,
        article_html=typed.markup,
        type=request.type,
        path=request.path,
        workspace=request.workspace,
        tags=request.tag or None,
        entities=entity_names(request.entity) or None,
        aliases=request.alias or None,
        importance=request.importance,
        confidence=request.confidence,
        valid_from=request.valid_from,
        cites=cites,
        provenance=provenance_of(request),
    )
