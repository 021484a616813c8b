"""From the bytes of a file to a memory: total, whatever the bytes are, and it says all that is wrong."""

from __future__ import annotations

from fabula.memory.format.bounds import why_too_much
from fabula.memory.format.canonical import fact_hash, hash_of_text, one_line, trim
from fabula.memory.format.check import check
from fabula.memory.format.content import Content
from fabula.memory.format.document import Document, canonical_markup
from fabula.memory.format.findings import Finding
from fabula.memory.format.head import Head, Link, Meta, read_head
from fabula.memory.format.markup import inner_markup
from fabula.memory.format.source import Source
from fabula.memory.format.tree import parse_document
from fabula.memory.format.vocabulary import OURS, PREFIX


class Reading:
    """A file that was read. Where ``violations`` is empty it is a memory, and everything else may be asked for.

    ``warnings`` are about things that do no harm to a reader: names outside of the vocabulary, things that a browser
    would fetch or run.
    """

    __slots__ = ("_article", "_content", "source", "tree", "violations", "warnings")

    violations: list[Finding]
    warnings: list[Finding]

    def __init__(self, source: Source) -> None:
        self.source = source
        too_much = why_too_much(source.text)
        self.tree = tree = parse_document("" if too_much else source.text)
        if too_much:
            finding = Finding("file", too_much, source.place(0), "split it into several memories")
            self.violations, self.warnings = [finding], []
        else:
            self.violations, self.warnings = check(source, tree)
        articles = tree.all("article")
        self._article = trim(articles[0] if articles else tree.top)
        self._content: Content | None = None

    @property
    def is_memory(self) -> bool:
        """Whether the file keeps to the format."""
        return not self.violations

    @property
    def title(self) -> str:
        """The title on one line."""
        titles = self.tree.all("title")
        return one_line(titles[0].own_text()) if titles else ""

    @property
    def metas(self) -> list[Meta]:
        """The metas of the format's names and of ours, grouped by name."""
        return [
            Meta(name, element.attributes.get("content", ""))
            for name, elements in self.tree.metas.items()
            if name.startswith((PREFIX, OURS))
            for element in elements
        ]

    @property
    def head(self) -> Head:
        """What the head says.

        Raises:
            TypeError: the file is no memory: a required meta is missing.
        """
        return read_head(self.metas)

    @property
    def links(self) -> tuple[Link, ...]:
        """The relations, in the order of the file."""
        return tuple(
            Link(element.attributes["rel"], element.attributes.get("href", ""))
            for element in self.tree.in_head("link")
            if element.attributes.get("rel", "").startswith(PREFIX)
        )

    @property
    def content(self) -> Content:
        """What the article says."""
        if self._content is None:
            self._content = Content(self.tree, self._article)
        return self._content

    @property
    def content_hash(self) -> str:
        """The hash of the article's canonical text."""
        return hash_of_text(self.content.text)

    @property
    def fact_hash(self) -> str:
        """The hash of the article's canonical text and of the values in it that machines read."""
        return fact_hash(self._article, self.content.text)

    @property
    def article_bytes(self) -> bytes:
        """The bytes between the article's tags, empty where it has none."""
        start, end = self._article.start(), self._article.end()
        if start is None or end is None:
            return b""
        return self.source.data[self.source.byte(start[1]) : self.source.byte(end[0])]

    @property
    def document(self) -> Document:
        """The memory as a value.

        Raises:
            TypeError: the file is no memory: a required meta is missing.
        """
        article = canonical_markup(inner_markup(self._article))
        return Document(self.title, self.head, self.links, article)


def read(data: bytes) -> Reading:
    """Read the bytes of a file as a memory. Never raises, whatever they are; what is not UTF-8 is read as U+FFFD."""
    return Reading(Source(data))
