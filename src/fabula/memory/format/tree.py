"""The tree of an HTML document, exactly as a browser builds it: the one place that knows the parser.

The parser repairs everything and refuses nothing. Its nodes are turned into small ones of our own, once, with an index
by name and the order of the document, so that whatever asks later walks no tree.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Deeper than this nothing is read: no fact needs it, and whoever walks a tree may do so by calling itself.
DEEPEST = 120


class Comment(NamedTuple):
    """A comment: kept in bytes, without meaning."""

    data: str


class Element:
    """An element: its name, attributes, children (text as ``str``) and its number in the order of the document."""

    __slots__ = ("_node", "attributes", "children", "last", "order", "parent", "tag")

    def __init__(self, node: Any, tag: str, attributes: dict[str, str], parent: Element | None, order: int) -> None:
        self._node = node
        self.tag = tag
        self.attributes = attributes
        self.children: list[Element | str | Comment] = []
        self.parent = parent
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

    def above(self) -> Iterator[Element]:
        """Yield the elements around this one, from the inside out."""
        around = self.parent
        while around is not None:
            yield around
            around = around.parent

    def own_text(self) -> str:
        """Return the text that stands directly in this element."""
        return "".join([child for child in self.children if isinstance(child, str)])


class Tree:
    """A document: its elements by name, in the order of the document."""

    __slots__ = ("attributed", "by_tag", "too_deep", "top")

    def __init__(self, children: Any) -> None:
        self.by_tag: dict[str, list[Element]] = {}
        #: Elements with attributes.
        self.attributed: list[Element] = []
        #: The first element whose inside was not read because it lies too deep.
        self.too_deep: Element | None = None
        self.top = Element(None, "#top", {}, None, 0)
        self._take(children)

    def all(self, tag: str) -> list[Element]:
        """Return the elements of a name."""
        return self.by_tag.get(tag, [])

    def inside(self, around: Element, tag: str) -> list[Element]:
        """Return the elements of a name that lie inside of another."""
        found = self.by_tag.get(tag)
        if not found:
            return []
        low, high = around.order, around.last
        return [element for element in found if low < element.order <= high]

    def _take(self, children: Any) -> None:
        """Turn the parser's nodes into ours. One closure: this runs for every node of every memory."""
        from turbohtml import Comment as CommentNode
        from turbohtml import Element as ElementNode
        from turbohtml import Text as TextNode

        by_tag, attributed, count = self.by_tag, self.attributed, 0

        def take(nodes: Any, parent: Element, depth: int) -> None:
            nonlocal count
            into = parent.children
            for node in nodes:
                kind = type(node)
                if kind is TextNode:
                    into.append(node.data)
                elif kind is ElementNode:
                    count += 1
                    tag, attributes, inside = node.tag, node.attrs, node.children
                    element = Element(node, tag, attributes, parent, count)
                    if attributes:
                        element.attributes = _attributes(node, attributes)
                        attributed.append(element)
                    into.append(element)
                    if tag in by_tag:
                        by_tag[tag].append(element)
                    else:
                        by_tag[tag] = [element]
                    if inside and depth < DEEPEST:
                        take(inside, element, depth + 1)
                        element.last = count
                    elif inside and self.too_deep is None:
                        self.too_deep = element
                elif kind is CommentNode:
                    into.append(Comment(node.data))

        take(children, self.top, 0)
        self.top.last = count


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
