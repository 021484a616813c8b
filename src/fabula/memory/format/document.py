"""A memory as a value, and its canonical file.

The canonical file has one head line for each meta and link, metas in the order of the format and before the links, line
feeds, and one newline at its end. Reading what was written gives the same value, writing what was read the same bytes.
"""

from __future__ import annotations

from fabula.kernel.errors import FabulaError
from fabula.kernel.values import frozen
from fabula.memory.format.bounds import why_too_much
from fabula.memory.format.canonical import trim
from fabula.memory.format.head import Head, Link, write_head
from fabula.memory.format.markup import escape_text, inner_markup, tag
from fabula.memory.format.tree import parse_fragment

_ROUNDS = 8


@frozen
class Document:
    """One memory: its title, what its head says, its relations, and the canonical inner markup of its article."""

    title: str
    head: Head
    links: tuple[Link, ...]
    article: str


def canonical_markup(markup: str) -> str:
    """Return the inner markup of an article as the format writes it: parsed, written anew, trimmed.

    Of some tag soup (a paragraph that a table was torn out of) HTML's own writing reads as another tree; that is
    written again, until it stands.

    Raises:
        FabulaError: it is too much to be parsed.
    """
    too_much = why_too_much(markup)
    if too_much:
        raise FabulaError("ERR_MEMORY_FORMAT", f"This markup is too much for a memory: {too_much}.")
    for _ in range(_ROUNDS):
        written = inner_markup(trim(parse_fragment(markup).top))
        if written == markup:
            break
        markup = written
    return markup


def write(document: Document) -> bytes:
    """Return the file of a memory: the same document, the same bytes."""
    lines = [
        "<!doctype html>",
        '<html lang="en">',
        "<head>",
        '<meta charset="utf-8">',
        f"<title>{escape_text(document.title)}</title>",
        *[tag("meta", (("name", name), ("content", content))) for name, content in write_head(document.head)],
        *[tag("link", (("rel", rel), ("href", href))) for rel, href in document.links],
        "</head>",
        "<body>",
        "<article>",
        document.article,
        "</article>",
        "</body>",
        "</html>",
        "",
    ]
    return "\n".join(lines).encode("utf-8", "replace")
