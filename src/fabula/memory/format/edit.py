"""Editors of heads: one tag is written, everything else keeps its bytes.

An editor finds the tags with the parser and cuts the file at their bytes, so comments, alignment, line ends and the
article stay what their author made them. Where a tag has a line to itself a line is added or taken; in a file that
has everything on one line, only the tag. After each edit the result is read again: unless the article has the same
bytes and the head says what was asked for, the edit is refused.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.kernel.errors import FabulaError
from fabula.memory.format.canonical import one_line
from fabula.memory.format.markup import tag
from fabula.memory.format.reader import read
from fabula.memory.format.vocabulary import META_RANK, OURS, PREFIX, token_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from fabula.memory.format.reader import Reading
    from fabula.memory.format.source import Source
    from fabula.memory.format.tree import Element

    Cut = tuple[int, int, str]  # from, to (places in the text), what stands there instead


def set_meta(data: bytes, name: str, value: str) -> bytes:
    """Give a meta a value, on one line: the first of its name, or a new one at its place in the format's order.

    A name outside of the vocabulary changes nothing.

    Raises:
        FabulaError: the file cannot be edited without touching more than the one tag.
    """
    if name not in META_RANK:
        return data
    value = one_line(value)
    written = _meta(name, value)

    def cuts(head: _Head) -> list[Cut]:
        present = head.metas(name)
        return [(*_span(present[0]), written)] if present else [head.insertion(_rank_anchor(head, name), written)]

    return _edited(data, cuts, lambda after: next(iter(after.metas(name))).attributes["content"] == value)


def add_meta(data: bytes, name: str, value: str) -> bytes:
    """Add a value of a meta that may have several, behind the others of its name; one that is there stays alone.

    Raises:
        FabulaError: as :func:`set_meta`.
    """
    value = one_line(value)
    if name not in META_RANK or value in read_metas(data, name):
        return data

    def cuts(head: _Head) -> list[Cut]:
        present = head.metas(name)
        anchor = (present[-1], False) if present else _rank_anchor(head, name)
        return [head.insertion(anchor, _meta(name, value))]

    return _edited(data, cuts, lambda after: value in [one.attributes.get("content") for one in after.metas(name)])


def remove_meta(data: bytes, name: str, value: str | None = None) -> bytes:
    """Remove all metas of a name, or those that have one value.

    Raises:
        FabulaError: as :func:`set_meta`.
    """

    def found(head: _Head) -> list[Element]:
        return [one for one in head.metas(name) if value is None or one.attributes.get("content") == value]

    return _edited(data, lambda head: [head.removal(one) for one in found(head)], lambda after: not found(after))


def read_meta(data: bytes, name: str) -> str | None:
    """Return the content of the first meta of a name."""
    return next(iter(read_metas(data, name)), None)


def read_metas(data: bytes, name: str) -> list[str]:
    """Return the contents of all metas of a name."""
    return [meta.content for meta in read(data).metas if meta.name == name]


def add_link(data: bytes, relation: str, path: str) -> bytes:
    """Add a relation (``caused_by``) to another memory's path, behind the others; one that is there stays alone.

    Raises:
        FabulaError: as :func:`set_meta`.
        KeyError: there is no such relation.
    """
    rel, href = token_of(relation), _href(path)
    if any((link.rel, link.href) == (rel, href) for link in read(data).links):
        return data
    written = tag("link", (("rel", rel), ("href", href)))

    def cuts(head: _Head) -> list[Cut]:
        behind = head.links() or head.metas()
        return [head.insertion((behind[-1], False) if behind else None, written)]

    return _edited(data, cuts, lambda after: bool(after.links(rel, href)))


def remove_link(data: bytes, relation: str, path: str | None = None) -> bytes:
    """Remove a relation to one path, or all of that relation.

    Raises:
        FabulaError: as :func:`set_meta`.
        KeyError: there is no such relation.
    """
    rel, href = token_of(relation), None if path is None else _href(path)
    return _edited(
        data,
        lambda head: [head.removal(one) for one in head.links(rel, href)],
        lambda after: not after.links(rel, href),
    )


class _Head:
    """The head of a file, and where its tags stand."""

    def __init__(self, reading: Reading) -> None:
        self._source = reading.source
        self._tree = reading.tree

    def metas(self, name: str | None = None) -> list[Element]:
        """Return the metas of one name, or all of the format's and of ours."""
        metas = self._tree.in_head("meta")
        if name is not None:
            return [one for one in metas if one.attributes.get("name") == name]
        return [one for one in metas if one.attributes.get("name", "").startswith((PREFIX, OURS))]

    def links(self, rel: str | None = None, href: str | None = None) -> list[Element]:
        """Return the links of one relation, of one place, or all of the format's."""
        links = [one for one in self._tree.in_head("link") if one.attributes.get("rel", "").startswith(PREFIX)]
        if rel is not None:
            links = [one for one in links if one.attributes["rel"] == rel]
        return [one for one in links if href is None or one.attributes.get("href") == href]

    def insertion(self, anchor: tuple[Element, bool] | None, written: str) -> Cut:
        """Return the cut that puts a tag before (``True``) or behind an element; without one, at the head's end."""
        if anchor is None:
            return self._at_the_end(written)
        element, is_before = anchor
        start, end = _span(element)
        line_start, _, is_alone = self._line(start, end)
        indent = self._source.text[line_start:start]
        if is_before:
            return (line_start, line_start, f"{indent}{written}\n") if is_alone else (start, start, written)
        return (end, end, f"\n{indent}{written}") if is_alone or self._begins_line(start) else (end, end, written)

    def removal(self, element: Element) -> Cut:
        """Return the cut that takes a tag away, with its line where nothing else stands on it."""
        start, end = _span(element)
        line_start, line_end, is_alone = self._line(start, end)
        if not is_alone:
            return (start, end, "")
        has_newline = line_end < len(self._source.text)
        return (line_start, line_end + has_newline, "")

    def _at_the_end(self, written: str) -> Cut:
        heads = self._tree.all("head")
        closing = heads[0].end() if heads else None
        titles = self._tree.in_head("title")
        if closing is not None:
            line_start, _, is_alone = self._line(*closing)
            return (line_start, line_start, f"{written}\n") if is_alone else (closing[0], closing[0], written)
        title = titles[0].end() if titles else None
        if title is None:
            raise FabulaError("ERR_MEMORY_FORMAT", "The file has no head to write to: it has no title.")
        return (title[1], title[1], f"\n{written}")

    def _line(self, start: int, end: int) -> tuple[int, int, bool]:
        """Return where the line of a tag begins and ends, and whether the tag is all that stands there."""
        text = self._source.text
        line_start, line_end = text.rfind("\n", 0, start) + 1, text.find("\n", end)
        line_end = len(text) if line_end < 0 else line_end
        return line_start, line_end, not text[line_start:start].strip() and not text[end:line_end].strip()

    def _begins_line(self, start: int) -> bool:
        text = self._source.text
        line_start = text.rfind("\n", 0, start) + 1
        return line_start > 0 and not text[line_start:start].strip()


def _rank_anchor(head: _Head, name: str) -> tuple[Element, bool] | None:
    """Return the element that a new meta goes next to: before the first that ranks later, else behind the last."""
    rank, ours = META_RANK[name], name.startswith(OURS)
    metas = head.metas()
    for meta in metas:
        if META_RANK.get(meta.attributes["name"], -1) > rank:
            return meta, True
    if ours and not metas and head.links():
        return head.links()[0], True
    return (metas[-1], False) if metas else None


def _meta(name: str, value: str) -> str:
    return tag("meta", (("name", name), ("content", value)))


def _href(path: str) -> str:
    return path if path.startswith("/") else f"/{path}"


def _span(element: Element) -> tuple[int, int]:
    span = element.start()
    if span is None:
        raise FabulaError("ERR_MEMORY_FORMAT", f"<{element.tag}> has no tag in the file that could be edited.")
    return span


def _edited(data: bytes, decide: Callable[[_Head], list[Cut]], holds: Callable[[_Head], bool]) -> bytes:
    """Make the cuts of an edit, and look at what came of them.

    Raises:
        FabulaError: the article or the head is not what it should be after the edit.
    """
    before = read(data)
    cuts = decide(_Head(before))
    if not cuts:
        return data
    edited = _spliced(before.source, cuts)
    after = read(edited)
    is_kept = before.article_bytes == after.article_bytes and before.content_hash == after.content_hash
    if not is_kept or not holds(_Head(after)):
        raise FabulaError("ERR_MEMORY_FORMAT", "The head of this file cannot be edited without touching its article.")
    return edited


def _spliced(source: Source, cuts: Iterable[Cut]) -> bytes:
    pieces, at = [], 0
    for start, end, text in sorted(cuts):
        first, last = source.byte(start), source.byte(end)
        pieces += [source.data[at:first], text.replace("\n", source.newline).encode("utf-8", "replace")]
        at = last
    return b"".join([*pieces, source.data[at:]])
