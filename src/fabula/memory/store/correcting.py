"""Correcting a memory: a new one takes its place in one commit and has from it whatever it does not say itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.kernel.errors import FabulaError
from fabula.kernel.values import frozen
from fabula.memory.format.edit import set_meta
from fabula.memory.format.head import Link
from fabula.memory.format.paths import normalise
from fabula.memory.format.placement import Placed, folder_for
from fabula.memory.format.template import Draft, document_of, prose_markup
from fabula.memory.format.vocabulary import TYPES, token_of
from fabula.memory.store.archiving import require_active
from fabula.memory.store.citing import references, with_quotes
from fabula.memory.store.drafting import check_links, check_new_path, check_scalars, links_of, prepared_document
from fabula.memory.store.guards import require_edge
from fabula.memory.store.messages import change_message, check_provenance
from fabula.memory.store.placing import Paths, day_of
from fabula.memory.store.stamps import VALID_FROM
from fabula.memory.store.superseding import changes_of, loser_move, valid_from_of
from fabula.memory.store.values import Corrected, Correction, Pair
from fabula.memory.store.writing import notices_of, same_text
from fabula.storage.git.values import Put

if TYPE_CHECKING:
    from fabula.memory.format.document import Document
    from fabula.memory.store.base import Base, Held
    from fabula.memory.store.drafting import Prepared
    from fabula.memory.store.moment import Moment
    from fabula.memory.store.store import Store, Work
    from fabula.storage.git.values import Change

SUPERSEDES = token_of("supersedes")
#: Relations that speak of the one file, not of what it states: they stay with it.
OF_THE_FILE = frozenset({SUPERSEDES, token_of("from_session")})


@frozen
class _Planned:
    """A correction that is decided: where the target goes, the file that takes its place, since when that is true."""

    archived: str
    path: str
    since: str
    changes: tuple[Change, ...]


def correct(store: Store, correction: Correction) -> Corrected:
    """Let a new memory take the place of another; workspace, tags, entities and the like are the target's.

    Where another memory states the corrected fact already, that one takes the target's place and nothing new is
    written. Raises ``ERR_USAGE``, ``ERR_PATH``, ``ERR_NO_MEMORY``, ``ERR_MEMORY_FORMAT``, ``ERR_SECRET``;
    ``ERR_WRITE_CONFLICT`` for a target in the archive or a path that is taken; and what a commit raises.
    """
    _check(correction)
    moment = store.moment()
    with store.writing(moment) as work:
        target = work.base.memory(correction.target)
        require_active(target)
        file = prepared_document(document_of(draft_from(correction, target, moment)))
        store.refuse_secrets([*file.texts, correction.reason], is_allowed=correction.allow_secrets)
        if is_same(file.document, target.reading.document):
            return Corrected(
                target.path, None, None, work.base.commit, file.content_hash, created=False, unchanged=True
            )
        _require_ends(work.base, correction, target)
        holder = _holder(work, target, file)
        if holder is not None:
            return _merged(work, correction, target, holder)
        return _corrected(work, correction, target, file)


def draft_from(correction: Correction, target: Held, moment: Moment) -> Draft:
    """Return the draft of a correction: what it says, and for the rest what the target says."""
    head, asked = target.reading.head, correction
    provenance = correction.provenance
    given = asked.claim.strip() or (asked.article_html or "").strip()
    article = target.reading.document.article
    if given:
        article = asked.article_html or prose_markup(asked.claim, asked.body)
    inherited = tuple(found for found in target.reading.links if found.rel not in OF_THE_FILE)
    return Draft(
        title=asked.title or target.reading.title,
        type=asked.type or head.type,
        at=moment.text,
        article_html=with_quotes(article, asked.cites),
        confidence=head.confidence if asked.confidence is None else asked.confidence,
        importance=head.importance if asked.importance is None else asked.importance,
        author=provenance.author,
        session=provenance.session,
        prompt=provenance.prompt,
        turn=provenance.turn,
        entities=head.entities if asked.entities is None else asked.entities,
        tags=head.tags if asked.tags is None else asked.tags,
        aliases=head.aliases if asked.aliases is None else asked.aliases,
        links=inherited if asked.links is None else links_of(asked.links),
        valid_from=asked.valid_from,
        task_status=head.task_status,
        due=head.due,
        cites=references(asked.cites) if given else tuple(dict.fromkeys((*head.cites, *references(asked.cites)))),
    )


def is_same(one: Document, other: Document) -> bool:
    """Whether two documents say the same of everything that a correction can change, when it was written aside."""
    fields = ("type", "confidence", "importance", "entities", "tags", "aliases", "cites")
    heads = [[getattr(document.head, field) for field in fields] for document in (one, other)]
    links = [[link for link in document.links if link.rel not in OF_THE_FILE] for document in (one, other)]
    texts = [(document.title, document.article) for document in (one, other)]
    since = one.head.valid_from
    return (
        heads[0] == heads[1]
        and links[0] == links[1]
        and texts[0] == texts[1]
        and since in {None, other.head.valid_from}
    )


def _check(correction: Correction) -> None:
    if correction.claim.strip() and (correction.article_html or "").strip():
        raise FabulaError("ERR_USAGE", "both a claim and markup were given: one of them", "give a claim, or markup")
    if correction.type is not None and correction.type not in TYPES:
        raise FabulaError("ERR_USAGE", f"{correction.type!r} is no type", f"use one of {', '.join(TYPES)}")
    check_scalars(correction.importance, correction.confidence)
    check_provenance(correction.provenance)
    check_links(correction.links or ())
    if correction.path is not None:
        check_new_path(correction.path)


def _require_ends(base: Base, correction: Correction, target: Held) -> None:
    kind, was = correction.type or target.reading.head.type, target.reading.head.type
    if (kind == "task") != (was == "task"):
        raise FabulaError("ERR_USAGE", f"{target.path} is a {was}: a task stays one, and nothing becomes one")
    for relation, path in correction.links or ():
        require_edge(base, target.path, kind, relation, path)


def _holder(work: Work, target: Held, file: Prepared) -> Held | None:
    """Return another memory that states the corrected fact already; tasks are each their own."""
    if target.reading.head.type == "task":
        return None
    path = work.known.holder_of_fact(file.fact_hash)
    return None if path is None or path == target.path else work.base.memory(path)


def _merged(work: Work, correction: Correction, target: Held, holder: Held) -> Corrected:
    """Let the memory that states the fact already take the target's place."""
    pair = Pair(holder.path, target.path)
    archived = Paths(work.base).in_archive(target.path, work.moment)
    files = {holder.path: holder, target.path: target}
    changes = changes_of([pair], files, {target.path: archived}, work.moment, correction.reason)
    plan = _Planned(archived, holder.path, valid_from_of(holder.reading, work.moment), tuple(changes))
    return _done(
        work, correction, target, holder.reading.title, plan, content_hash=holder.reading.content_hash, is_new=False
    )


def _corrected(work: Work, correction: Correction, target: Held, file: Prepared) -> Corrected:
    paths = Paths(work.base)
    archived = paths.in_archive(target.path, work.moment)
    path = _path(paths, correction, target, file, work.moment)
    since = valid_from_of(file.reading, work.moment)
    document = file.document
    links = (*document.links, Link(SUPERSEDES, f"/{archived}"))
    data = prepared_document(type(document)(document.title, document.head, links, document.article)).data
    data = set_meta(data, VALID_FROM, since)
    alike = same_text(work, document.head.type, file.content_hash, path, target.path)
    work.notices += notices_of(path, alike)
    move = loser_move(target, archived, path, since, work.moment, correction.reason)
    plan = _Planned(archived, path, since, (Put(path, data), move))
    return _done(work, correction, target, document.title, plan, content_hash=file.content_hash, is_new=True)


def _path(paths: Paths, correction: Correction, target: Held, file: Prepared, moment: Moment) -> str:
    """Return a free path: the one that was named, else beside the target, else in the workspace that was named."""
    if correction.path is not None:
        return paths.exactly(normalise(correction.path))
    head = file.document.head
    day = (day_of(target.path) or f"{moment.when:%Y%m%d}-") if head.type == "episodic" else ""
    folder = target.path.rpartition("/")[0]
    if correction.workspace is not None:
        folder = folder_for(Placed(head.type, head.entities, correction.workspace, head.tags))
    return paths.free(folder, file.document.title, day)


def _done(
    work: Work, correction: Correction, target: Held, title: str, plan: _Planned, *, content_hash: str, is_new: bool
) -> Corrected:
    message = change_message("correct", title, correction.provenance, correction.reason)
    committed = work.commit(message, plan.changes)
    return Corrected(
        plan.path,
        plan.archived,
        committed.id if committed is not None else None,
        work.base.commit,
        content_hash,
        created=is_new,
        deduped=not is_new,
        existing=None if is_new else plan.path,
        valid_from=plan.since,
        blob=committed.blobs.get(plan.path) if committed is not None else None,
        moves=((target.path, plan.archived),),
        notices=tuple(work.notices),
    )
