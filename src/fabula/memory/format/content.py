"""What an article says, taken out of its markup: the claim, facets, citations, terms, the time it speaks of."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from fabula.memory.format.canonical import canonical_text, one_line, plain_text
from fabula.memory.format.tree import Element

if TYPE_CHECKING:
    from fabula.memory.format.tree import Tree

#: Code that stands by itself is no part of a sentence; code inside of a line is.
_BLOCK_CODE = frozenset({"pre"})
#: What the original format leaves out of a claim: a claim must say something besides it.
_ALL_CODE = frozenset({"pre", "code"})
#: What is found but never quoted by itself.
_FOLDED = frozenset({"details", "aside"})


class Facet(NamedTuple):
    """A pair of a description list: a name, a value, and the number that machines read in it."""

    name: str
    value: str
    number: float | None


class Citation(NamedTuple):
    """A work that is named (``cite``) or words that are quoted (``q``, with the address they come from)."""

    text: str
    address: str | None
    is_quote: bool


class Content:
    """The parts of an article. Each is found when it is asked for."""

    __slots__ = ("_article", "_tree", "text")

    def __init__(self, tree: Tree, article: Element) -> None:
        self._tree, self._article = tree, article
        #: The canonical text, over which the content hash goes.
        self.text = canonical_text(article)

    @property
    def claim(self) -> str:
        """The claim: what is marked, with code inside of the line and without code that stands by itself."""
        marks = self._tree.inside(self._article, "mark")
        return plain_text(marks[0], _BLOCK_CODE) if marks else ""

    @property
    def body(self) -> str:
        """The whole text on one line."""
        return one_line(self.text)

    @property
    def open_body(self) -> str:
        """The text on one line without what is folded away (``details``, ``aside``): what may be quoted."""
        return plain_text(self._article, _FOLDED)

    @property
    def event_at(self) -> str | None:
        """The time of the first ``time`` element: when it happened, not when it was written."""
        times = self._tree.inside(self._article, "time")
        return times[0].attributes.get("datetime") if times else None

    @property
    def times(self) -> list[str]:
        """The times of all ``time`` elements."""
        return [time.attributes.get("datetime", "") for time in self._tree.inside(self._article, "time")]

    @property
    def facets(self) -> list[Facet]:
        """The pairs of all description lists; a value without a name before it is none."""
        found = []
        for element in self._tree.inside(self._article, "dl"):
            name: str | None = None
            for part in _parts(element):
                if part.tag == "dt":
                    name = plain_text(part)
                elif name is not None:
                    found.append(Facet(name, plain_text(part), self._number(part)))
        return found

    @property
    def citations(self) -> list[Citation]:
        """Works and quotations in the order of the document."""
        cites = self._tree.inside(self._article, "cite") + self._tree.inside(self._article, "q")
        found = []
        for element in sorted(cites, key=lambda one: one.order):
            text, is_quote = plain_text(element), element.tag == "q"
            if text:
                found.append(Citation(text, element.attributes.get("cite") if is_quote else None, is_quote))
        return found

    @property
    def terms(self) -> list[str]:
        """What is defined here."""
        return self._texts("dfn")

    @property
    def languages(self) -> list[str]:
        """The languages of code, in lower case, as they were written."""
        codes = self._tree.inside(self._article, "code")
        names = [code.attributes.get("data-lang", "").strip().lower() for code in codes]
        return [name for name in names if name]

    @property
    def summaries(self) -> list[str]:
        """The lines behind which details are folded away."""
        return self._texts("summary")

    @property
    def asides(self) -> list[str]:
        """What is said by the way."""
        return self._texts("aside")

    @property
    def captions(self) -> list[str]:
        """The captions of figures."""
        return self._texts("figcaption")

    @property
    def expansions(self) -> list[tuple[str, str]]:
        """Abbreviations and what they stand for."""
        found = [
            (plain_text(abbr), abbr.attributes.get("title", "")) for abbr in self._tree.inside(self._article, "abbr")
        ]
        return [(short, long) for short, long in found if long]

    @property
    def links(self) -> list[str]:
        """The addresses that anchors lead to."""
        anchors = self._tree.inside(self._article, "a")
        return [anchor.attributes["href"] for anchor in anchors if "href" in anchor.attributes]

    def _texts(self, tag: str) -> list[str]:
        return [text for element in self._tree.inside(self._article, tag) if (text := plain_text(element))]

    def _number(self, value: Element) -> float | None:
        """Return the first finite number that a ``data`` element in a value holds."""
        for element in self._tree.inside(value, "data"):
            number = read_number(element.attributes.get("value", ""))
            if number is not None:
                return number
        return None


def claim_without_code(mark: Element) -> str:
    """Return what is left of a claim without any code: the part that may not be empty."""
    return plain_text(mark, _ALL_CODE).replace("\xa0", " ").strip()


def read_number(text: str) -> float | None:
    """Return a finite decimal number, ``None`` where the text is none."""
    text = text.strip()
    if not text or not text.isascii() or "_" in text:
        return None
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _parts(element: Element) -> list[Element]:
    """Return the names and values of a list, also those that are grouped; a list inside of a list has its own."""
    found: list[Element] = []
    for child in element.children:
        if isinstance(child, Element):
            if child.tag in {"dt", "dd"}:
                found.append(child)
            elif child.tag != "dl":
                found += _parts(child)
    return found
