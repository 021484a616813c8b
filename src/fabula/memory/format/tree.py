"""The tree of an HTML document, exactly as a browser builds it: the one place that knows the parser.

The parser repairs everything and refuses nothing. Its nodes are turned into small ones of our own, once, with an index
by name and the order of the document, so that whatever asks later walks no tree.
"""

from __future__ import annotations

from bisect import bisect_right
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Deeper than this nothing is read: no fact needs it, and whoever walks a tree may do so by calling itself.
DEEPEST = 120


_order = attrgetter("order")
_FEW = 40  # that are looked at one by one faster than by halves


class Comment(NamedTuple):
    """A comment: kept in bytes, without meaning."""

    data: str


class Element:
    """An element: its name, attributes, children (text as ``str``) and its number in the order of the document."""

    __slots__ = ("_node", "attributes", "children", "last", "order", "tag")

    def __init__(self, node: Any, tag: str, attributes: dict[str, str], order: int) -> None:
        self._node = node
        self.tag = tag
        self.attributes = attributes
        self.children: list[Element | str | Comment] = []
        self.order = order
        self.last = order  # the number of the last element inside

    def start(self) -> tuple[int, int] | None:
        """Return where the start tag begins and ends in the text; ``None``: the parser put it there itself."""
        return _span(self._node, "start_tag")

    def end(self) -> tuple[int, int] | None:
        """Return where the end tag begins and ends in the text, ``None`` where there is none."""
        return _span(self._node, "end_tag")

    def holds(self, other: Element) -> bool:
        """Whether another element lies inside of this one."""
        return self.order < other.order <= self.last

    def own_text(self) -> str:
        """Return the text that stands directly in this element."""
        return "".join([child for child in self.children if isinstance(child, str)])


class Tree:
    """A document: its elements by name, in the order of the document."""

    __slots__ = ("attribute_names", "attributed", "by_tag", "head", "metas", "too_deep", "top")

    def __init__(self, children: Any) -> None:
        self.by_tag: dict[str, list[Element]] = {}
        #: Elements with attributes.
        self.attributed: list[Element] = []
        self.attribute_names: set[str] = set()
        #: The first element whose inside was not read because it lies too deep.
        self.too_deep: Element | None = None
        #: The metas in the head that have names, by name.
        self.metas: dict[str, list[Element]] = {}
        self.top = Element(None, "#top", {}, 0)
        self._take(children)
        #: The head; ``None`` only where there is no document at all.
        self.head: Element | None = next(iter(self.all("head")), None)
        for meta in self.in_head("meta"):
            name = meta.attributes.get("name")
            if name:
                self.metas.setdefault(name, []).append(meta)

    def all(self, tag: str) -> list[Element]:
        """Return the elements of a name."""
        return self.by_tag.get(tag, [])

    def in_head(self, tag: str) -> list[Element]:
        """Return the elements of a name that stand in the head."""
        return self.inside(self.head, tag) if self.head is not None else []

    def inside(self, around: Element, tag: str) -> list[Element]:
        """Return the elements of a name that lie inside of another."""
        found = self.by_tag.get(tag)
        if not found:
            return []
        low, high = around.order, around.last
        if len(found) < _FEW:
            return [element for element in found if low < element.order <= high]
        first = bisect_right(found, low, key=_order)
        return found[first : bisect_right(found, high, first, key=_order)]

    def _take(self, children: Any) -> None:
        """Turn the parser's nodes into ours. One loop without calls: it runs for every node of every memory."""
        from turbohtml import Comment as CommentNode
        from turbohtml import Element as ElementNode
        from turbohtml import Text as TextNode

        by_tag, attributed, names, count = self.by_tag, self.attributed, self.attribute_names, 0
        around: list[tuple[Iterator[Any], Element]] = []
        nodes, parent = iter(children), self.top
        while True:
            for node in nodes:
                kind = type(node)
                if kind is TextNode:
                    parent.children.append(node.data)
                elif kind is ElementNode:
                    count += 1
                    tag, attributes, inside = node.tag, node.attrs, node.children
                    element = Element(node, tag, attributes, count)
                    if attributes:
                        if not names.issuperset(attributes):
                            names.update(attributes)
                        element.attributes = _attributes(node, attributes)
                        attributed.append(element)
                    parent.children.append(element)
                    if tag in by_tag:
                        by_tag[tag].append(element)
                    else:
                        by_tag[tag] = [element]
                    if inside and len(around) < DEEPEST:
                        around.append((nodes, parent))
                        nodes, parent = iter(inside), element
                        break
                    if inside and self.too_deep is None:
                        self.too_deep = element
                elif kind is CommentNode:
                    parent.children.append(Comment(node.data))
            else:
                parent.last = count
                if not around:
                    return
                nodes, parent = around.pop()


def _attributes(node: Any, given: Any) -> dict[str, str]:
    """Return attributes as they were written: the parser splits those that are lists of words."""
    made = dict(given)
    for name, value in made.items():
        if type(value) is not str:
            made[name] = node.attr(name)
    return made


def parse_document(text: str) -> Tree:
    """Parse the text of a whole document (a :class:`~fabula.memory.format.source.Source`'s)."""
    from turbohtml import parse

    tree = parse(text, source_locations=True, scripting=True, allow_declarative_shadow_roots=False)
    return Tree(tree.children)


def parse_fragment(markup: str) -> Tree:
    """Parse the inner markup of an article."""
    from turbohtml import parse_fragment as parse

    return Tree(parse(markup.encode("utf-8", "replace").decode("utf-8"), "article", scripting=True).children)


def _span(node: Any, which: str) -> tuple[int, int] | None:
    location = node.source_location if node is not None else None
    span = getattr(location, which) if location is not None else None
    return (span.start_offset, span.end_offset) if span is not None else None
