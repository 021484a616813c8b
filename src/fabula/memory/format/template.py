"""The two doors to a new memory's file: a claim with prose, or the markup of an article.

Prose is never markup: what looks like a tag is escaped. Markup is parsed and written anew. Both give one document,
which ``gate.py`` looks at before anything is written.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.kernel.values import frozen
from fabula.memory.format.canonical import content_hash_of_markup, one_line
from fabula.memory.format.document import Document, canonical_markup
from fabula.memory.format.fences import parse_fence
from fabula.memory.format.head import Head, Link
from fabula.memory.format.language import detect
from fabula.memory.format.markup import escape_text, tag

if TYPE_CHECKING:
    from collections.abc import Sequence

#: Control characters that no text needs and that do not survive HTML.
_CONTROLS = dict.fromkeys((*range(9), 11, 12, *range(14, 32), 127))


@frozen
class Draft:
    """What a memory is made of. ``at`` and the other times are in the form that is written; the clock is passed in."""

    title: str
    type: str
    at: str
    claim: str = ""
    body: Sequence[str] = ()  # paragraphs, or fenced code
    article_html: str | None = None  # where it says something, claim and body do not count
    confidence: float | None = None
    importance: int | None = None
    author: str | None = None
    session: str | None = None
    prompt: str | None = None
    turn: str | None = None
    entities: Sequence[str] = ()
    tags: Sequence[str] = ()
    aliases: Sequence[str] = ()
    links: Sequence[Link] = ()
    valid_from: str | None = None
    valid_until: str | None = None
    task_status: str | None = None  # of a task alone
    due: str | None = None
    origin: str | None = None
    reason: str | None = None
    cites: Sequence[str] = ()


def document_of(draft: Draft) -> Document:
    """Make the document of a draft: the same draft, the same document."""
    given = draft.article_html
    markup = canonical_markup(given if given and given.strip() else prose_markup(draft.claim, draft.body))
    head = Head(
        type=draft.type,
        status="active",
        created=draft.at,
        updated=draft.at,
        confidence=None if draft.confidence is None else round(draft.confidence, 6),
        importance=draft.importance,
        content_hash=content_hash_of_markup(markup),
        author=_value(draft.author),
        session=_value(draft.session),
        prompt=_value(draft.prompt),
        turn=_value(draft.turn),
        valid_from=_value(draft.valid_from),
        valid_until=_value(draft.valid_until),
        task_status=(draft.task_status or "todo") if draft.type == "task" else None,
        due=_value(draft.due),
        entities=_values(draft.entities),
        tags=_values(draft.tags),
        aliases=_values(draft.aliases),
        origin=_value(draft.origin),
        reason=_value(draft.reason),
        cites=_values(draft.cites),
    )
    return Document(one_line(_clean(draft.title)), head, tuple(draft.links), markup)


def prose_markup(claim: str, body: Sequence[str]) -> str:
    """Return the markup of a claim and its paragraphs; the first paragraph goes on behind the claim."""
    rest = [paragraph for paragraph in map(_clean, body) if paragraph.strip()]
    first = f"<mark>{escape_text(_clean(claim).strip())}</mark>"
    if rest and parse_fence(rest[0]) is None:
        first += f" {escape_text(rest.pop(0).strip())}"
    return "\n".join([f"<p>{first}</p>", *map(_paragraph, rest)])


def _paragraph(text: str) -> str:
    fence = parse_fence(text)
    if fence is None:
        return f"<p>{escape_text(text.strip())}</p>"
    language = fence.language or detect(fence.code)
    opening = tag("code", [("data-lang", language)] if language else [])
    return f"<figure><pre>{opening}{escape_text(fence.code)}</code></pre></figure>"


def _clean(text: str) -> str:
    """Make a text one that HTML can hold: no control characters, line feeds, nothing that is no character."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").translate(_CONTROLS)
    return text.encode("utf-8", "replace").decode("utf-8")


def _value(text: str | None) -> str | None:
    """Return the content of a meta: on one line; nothing where it says nothing."""
    return (one_line(_clean(text)) or None) if text is not None else None


def _values(texts: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(value for text in texts if (value := _value(text))))
