"""From what is asked to the file that would be written, refused where it must not be: the gate before any lock."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

from fabula.kernel.errors import FabulaError
from fabula.kernel.values import frozen
from fabula.memory.format.gate import rendered
from fabula.memory.format.head import Link
from fabula.memory.format.paths import is_root_relative, normalise, why_not_writable
from fabula.memory.format.template import Draft, document_of, prose_markup
from fabula.memory.format.vocabulary import RELATIONS, TASK_STATUSES, TYPES, WRITABLE_TYPES, token_of
from fabula.memory.store.citing import references, with_quotes
from fabula.memory.store.messages import check_provenance

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fabula.memory.format.document import Document
    from fabula.memory.format.reader import Reading
    from fabula.memory.store.moment import Moment
    from fabula.memory.store.values import NewMemory

_LINE_END = re.compile(r"[\x00-\x1f\x7f\x85\u2028\u2029]")


@frozen
class Prepared:
    """A file that may be written: the document, and its bytes as they were read to be looked at."""

    document: Document
    reading: Reading
    content_hash: str
    fact_hash: str
    claim: str

    @property
    def data(self) -> bytes:
        """The bytes of the file."""
        return self.reading.source.data

    @property
    def texts(self) -> tuple[str, ...]:
        """What a secret could stand in: all of the file."""
        return (self.reading.source.text,)


def prepared(new: NewMemory, moment: Moment) -> Prepared:
    """Return the file of a new memory.

    Raises ``ERR_USAGE`` for what was asked wrongly, ``ERR_PATH`` for a path that a memory cannot have,
    ``ERR_MEMORY_FORMAT`` for what the gate refuses.
    """
    check_request(new)
    return prepared_draft(draft_of(new, moment))


def prepared_draft(draft: Draft) -> Prepared:
    """Return the file of a draft. Raises ``ERR_MEMORY_FORMAT`` as the gate does."""
    return prepared_document(document_of(draft))


def prepared_document(document: Document) -> Prepared:
    """Return the file of a document. Raises ``ERR_MEMORY_FORMAT`` as the gate does."""
    reading = rendered(document)
    return Prepared(document, reading, reading.content_hash, reading.fact_hash, reading.content.claim)


def draft_of(new: NewMemory, moment: Moment) -> Draft:
    """Return the draft of a new memory."""
    return Draft(
        title=new.title,
        type=new.type,
        at=moment.text,
        article_html=article_of(new),
        confidence=new.confidence,
        importance=new.importance,
        author=new.provenance.author,
        session=new.provenance.session,
        prompt=new.provenance.prompt,
        turn=new.provenance.turn,
        entities=new.entities,
        tags=new.tags,
        aliases=new.aliases,
        links=links_of(new.links),
        valid_from=new.valid_from,
        valid_until=new.valid_until,
        task_status=new.task_status,
        due=new.due,
        cites=references(new.cites),
    )


def article_of(new: NewMemory) -> str:
    """Return the markup of an article: as it was given, or prose; behind it the words that are cited."""
    return with_quotes(new.article_html or prose_markup(new.claim, new.body), new.cites)


def links_of(links: Iterable[tuple[str, str]]) -> tuple[Link, ...]:
    """Return relations as links of a head, once each."""
    return tuple(dict.fromkeys(Link(token_of(relation), f"/{normalise(path)}") for relation, path in links))


# ── what may be asked ───────────────────────────────────────────────
def check_request(new: NewMemory) -> None:
    """Raise ``ERR_USAGE`` or ``ERR_PATH`` for a request that cannot be meant."""
    allowed = TYPES if new.is_arc_allowed else WRITABLE_TYPES
    if new.type not in allowed:
        raise FabulaError("ERR_USAGE", f"{new.type!r} is no type to write", f"use one of {', '.join(allowed)}")
    if not new.title.strip():
        raise FabulaError("ERR_USAGE", "a memory needs a title", "say in a few words what it is about")
    if bool(new.claim.strip()) == bool((new.article_html or "").strip()):
        which = "both a claim and markup were given" if new.claim.strip() else "neither a claim nor markup was given"
        raise FabulaError("ERR_USAGE", f"{which}: a memory is made of one of them", "give a claim, or markup")
    check_scalars(new.importance, new.confidence)
    check_links(new.links)
    check_provenance(new.provenance)
    check_task(new)
    if new.path is not None:
        check_new_path(new.path)
    elif new.if_hash is not None:
        raise FabulaError("ERR_USAGE", "what is to be replaced is not named", "give the path of the memory as well")


def check_scalars(importance: int | None, confidence: float | None) -> None:
    """Raise ``ERR_USAGE`` for numbers out of their range."""
    if importance is not None and not 1 <= importance <= 10:
        raise FabulaError("ERR_USAGE", f"importance {importance} is not between 1 and 10")
    if confidence is not None and not (math.isfinite(confidence) and 0 <= confidence <= 1):
        raise FabulaError("ERR_USAGE", f"confidence {confidence} is not between 0 and 1")


def check_task(new: NewMemory) -> None:
    """Raise ``ERR_USAGE`` where a state is none, or stands at what is no task."""
    if new.type != "task" and (new.task_status or new.due):
        raise FabulaError("ERR_USAGE", "a state or a due date belongs to a task", "leave it out, or write a task")
    if new.task_status and new.task_status not in TASK_STATUSES:
        choices = ", ".join(TASK_STATUSES)
        raise FabulaError("ERR_USAGE", f"{new.task_status!r} is no state of a task", f"use one of {choices}")


def check_new_path(path: str) -> None:
    """Raise ``ERR_PATH`` for a path that nothing new may be written at."""
    why = why_not_writable(path)
    if why is None and normalise(path).startswith("archive/"):
        why = "what is new is not in the archive"
    if why is not None:
        raise FabulaError("ERR_PATH", f"{path!r} cannot be the path of a new memory: {why}", "leave the path out")


def check_links(links: Iterable[tuple[str, str]]) -> None:
    """Raise ``ERR_USAGE`` for a relation that is none, ``ERR_PATH`` for what it cannot lead to."""
    for relation, path in links:
        check_relation(relation)
        if not is_root_relative(f"/{normalise(path)}") or _LINE_END.search(path):
            raise FabulaError("ERR_PATH", f"{path!r} is no place in the memory that a relation could lead to")


def check_relation(relation: str) -> None:
    """Raise ``ERR_USAGE`` for a relation that is none."""
    if relation not in RELATIONS:
        raise FabulaError("ERR_USAGE", f"{relation!r} is no relation", f"use one of {', '.join(RELATIONS)}")
