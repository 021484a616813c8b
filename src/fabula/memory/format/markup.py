"""From nodes back to markup, as the HTML standard writes them, with attributes in the order of their names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.memory.format.tree import Comment, Element

if TYPE_CHECKING:
    from collections.abc import Iterable

VOID = frozenset(
    "area base basefont bgsound br col embed frame hr img input keygen link meta param source track wbr".split()
)
RAW_TEXT = frozenset("style script xmp iframe noembed noframes noscript plaintext".split())
#: Elements whose parser drops a newline at their beginning.
_NEWLINE_EATERS = frozenset({"pre", "textarea", "listing"})
_SPECIAL = frozenset('&<>"\xa0\r')


def escape_text(text: str) -> str:
    """Escape a text for the place between tags."""
    if _SPECIAL.isdisjoint(text):
        return text
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return text.replace("\xa0", "&nbsp;").replace("\r", "&#13;")


def escape_attribute(text: str) -> str:
    """Escape a text for the place between double quotes."""
    if _SPECIAL.isdisjoint(text):
        return text
    text = text.replace("&", "&amp;").replace('"', "&quot;")
    return text.replace("\xa0", "&nbsp;").replace("\r", "&#13;")


def tag(name: str, attributes: Iterable[tuple[str, str]]) -> str:
    """Write a start tag with its attributes in the order they are given."""
    written = [f' {key}="{escape_attribute(value)}"' for key, value in attributes]
    return f"<{name}{''.join(written)}>"


def inner_markup(element: Element) -> str:
    """Write what is in an element."""
    pieces: list[str] = []
    _write(element, pieces)
    return "".join(pieces)


def _write(element: Element, pieces: list[str]) -> None:
    is_raw = element.tag in RAW_TEXT
    for child in element.children:
        if type(child) is str:
            pieces.append(child if is_raw else escape_text(child))
        elif type(child) is Comment:
            pieces.append(f"<!--{child.data}-->")
        elif type(child) is Element:
            pieces.append(tag(child.tag, sorted(child.attributes.items())))
            if child.tag in VOID:
                continue
            first = child.children[0] if child.children else None
            if child.tag in _NEWLINE_EATERS and type(first) is str and first.startswith("\n"):
                pieces.append("\n")
            _write(child, pieces)
            pieces.append(f"</{child.tag}>")
