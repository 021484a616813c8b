"""The canonical text of an article, and the two hashes over it.

The text is what a person reads: white space collapsed except in ``<pre>``, one space around what is not inline, a
no-break space kept. It does not depend on heads, on indentation, on comments, or on how markup is spelled.

``content hash``
    SHA-256 of the text. The format's own: every reader computes the same one.
``fact hash``
    SHA-256 of the text and of the values that only machines read (``datetime``, ``value``, ``cite``, ``href``), in the
    order of the document. Equal to the content hash where an article has none. Two articles are the same fact when
    these are equal: *forty* as 40 and *forty* as 4 read alike and are not.
"""

from __future__ import annotations

import re

from fabula.kernel.hashes import digest, digest_text
from fabula.memory.format.tree import Element, parse_fragment
from fabula.memory.format.vocabulary import FACT_ATTRIBUTES, INLINE

#: What the format trims at both ends of an article: JavaScript's white space, but for the no-break space, which is
#: written as an entity.
MARGIN = (
    "\t\n\v\f\r \u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f"
    "\u205f\u3000\ufeff"
)
_HASH = re.compile("sha256:[0-9a-f]{64}")


def canonical_text(element: Element, without: frozenset[str] = frozenset()) -> str:
    """Return the canonical text of what is in an element; subtrees of the names in ``without`` are left out."""
    segments: list[tuple[bool, str]] = []  # (is it verbatim, text), never two collapsible ones side by side
    collapsible: list[str] = []
    _gather(element, element.tag == "pre", without, collapsible, segments)
    _close(collapsible, segments)
    if segments and not segments[0][0]:
        segments[0] = (False, segments[0][1].removeprefix(" "))
    if segments and not segments[-1][0]:
        segments[-1] = (False, segments[-1][1].removesuffix(" "))
    return "".join([text for _, text in segments])


def _gather(
    element: Element,
    verbatim: bool,
    without: frozenset[str],
    collapsible: list[str],
    segments: list[tuple[bool, str]],
) -> None:
    for child in element.children:
        if type(child) is str:
            if verbatim:
                _close(collapsible, segments)
                segments.append((True, child))
            else:
                collapsible.append(child)
        elif type(child) is Element and child.tag not in without:
            tag = child.tag
            if tag in INLINE:
                _gather(child, verbatim, without, collapsible, segments)
            else:
                collapsible.append(" ")
                _gather(child, verbatim or tag == "pre", without, collapsible, segments)
                collapsible.append(" ")


def _close(collapsible: list[str], segments: list[tuple[bool, str]]) -> None:
    """End a run of collapsible text."""
    if collapsible:
        segments.append((False, _collapse("".join(collapsible))))
        collapsible.clear()


def trim(article: Element) -> Element:
    """Take the white space from both ends of an article: it is no part of what it says."""
    children = article.children
    if children and isinstance(children[0], str):
        children[0] = children[0].lstrip(MARGIN)
    if children and isinstance(children[-1], str):
        children[-1] = children[-1].rstrip(MARGIN)
    return article


def plain_text(element: Element, without: frozenset[str] = frozenset()) -> str:
    """Return the text of an element on one line: canonical, and white space collapsed everywhere."""
    return one_line(canonical_text(element, without))


def one_line(text: str) -> str:
    """Collapse white space, except no-break spaces, and trim."""
    return _collapse(text).strip(" ")


def content_hash(article: Element) -> str:
    """Return the content hash of an article, ``sha256:`` and 64 hexadecimal digits."""
    return hash_of_text(canonical_text(article))


def fact_hash(article: Element, text: str) -> str:
    """Return the fact hash of an article whose canonical text is known."""
    values = list(_values(article))
    return hash_of_text("\0".join((text, *values)))


def content_hash_of_markup(markup: str) -> str:
    """Return the content hash of an article given as its inner markup."""
    return content_hash(trim(parse_fragment(markup).top))


def _collapse(text: str) -> str:
    """Make each run of HTML's white space one space; five times as fast as an expression."""
    text = text.replace("\n", " ").replace("\t", " ").replace("\r", " ").replace("\f", " ")
    while "  " in text:
        text = text.replace("  ", " ")
    return text


def hash_of_text(text: str) -> str:
    """Return the hash of a canonical text in the form of the format."""
    return digest_text(digest(text.encode("utf-8", "replace")))


def is_hash(text: str) -> bool:
    """Whether a text is a hash of this form, in lower case."""
    return bool(_HASH.fullmatch(text))


def _values(element: Element) -> list[str]:
    found = []
    for child in element.children:
        if type(child) is Element:
            name = FACT_ATTRIBUTES.get(child.tag)
            value = child.attributes.get(name) if name else None
            if value is not None:
                found.append(f"{child.tag} {name}={value}")
            found += _values(child)
    return found
