"""How a memory carries what it cites of the record: a meta for each record, and its words as a quotation.

``<meta name="fabula-cite" content="RECORD sha256:<hex>">`` says which bytes; the words stand in the article as
``<p><q cite="urn:fabula:record:RECORD">…</q></p>``, so that a reader of the file alone sees them. Without words the
record is cited as a whole, by the meta alone. One record may be quoted several times.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote, unquote

from fabula.kernel.citations import Citation, read_reference
from fabula.memory.format.markup import escape_text, tag

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fabula.memory.format.reader import Reading

SCHEME = "urn:fabula:record:"


def address_of(record: str) -> str:
    """Return the address that a quotation names a record by."""
    return SCHEME + quote(record, safe="-._~:/@")


def record_of(address: str | None) -> str | None:
    """Return the record that an address names, ``None`` where it names none."""
    return unquote(address[len(SCHEME) :]) if address and address.startswith(SCHEME) else None


def with_quotes(markup: str, cites: Sequence[Citation]) -> str:
    """Return an article's markup with the words that are cited, a paragraph for each, behind the rest."""
    quotes = dict.fromkeys((cite.record, cite.quote) for cite in cites if cite.quote.strip())
    paragraphs = [
        f"<p>{tag('q', (('cite', address_of(record)),))}{escape_text(words)}</q></p>" for record, words in quotes
    ]
    return "\n".join([markup, *paragraphs])


def references(cites: Sequence[Citation]) -> tuple[str, ...]:
    """Return the contents of the metas, once each."""
    return tuple(dict.fromkeys(cite.reference for cite in cites))


def citations_in(reading: Reading) -> list[Citation]:
    """Return what a memory cites of the record: of each meta its quotations, or the record as a whole."""
    quoted: dict[str, list[str]] = {}
    for found in reading.tree.all("q"):
        record, words = record_of(found.attributes.get("cite")), found.own_text()
        if record is not None and words.strip():
            quoted.setdefault(record, []).append(words)
    metas = [meta.content for meta in reading.metas if meta.name == "fabula-cite"]
    pairs = [pair for content in metas if (pair := read_reference(content)) is not None]
    return [Citation(record, digest, words) for record, digest in pairs for words in quoted.get(record) or [""]]
