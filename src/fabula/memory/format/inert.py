"""What in a document would act in a browser: run, load from elsewhere, send, or lead to a script.

The vocabulary needs none of it. What is known to do nothing is let through, all else is named: a list of dangers would
end before the dangers do.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from fabula.memory.format.vocabulary import (
    FIGURE_ONLY,
    FORBIDDEN,
    FORBIDDEN_ATTRIBUTES,
    HARMLESS,
    KNOWN_ELEMENTS,
    PREFIX,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fabula.memory.format.tree import Element, Tree

_INERT_ELEMENTS = (KNOWN_ELEMENTS | HARMLESS | FIGURE_ONLY) - FORBIDDEN
#: Attributes that a browser does not act on by itself, for any element; of ``data-`` and ``aria-`` all do nothing.
_INERT_ATTRIBUTES = frozenset(
    "title lang dir id role datetime value cite href name content charset rel colspan rowspan headers scope abbr span "
    "http-equiv start reversed type open translate hidden".split()
)
_SAFE_SCHEMES = frozenset({"http", "https", "mailto", "urn", "file"})
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*(?=:)", re.IGNORECASE)
_IGNORED_IN_ADDRESSES = re.compile("[\x00-\x20]")
#: Relations of a head that make a browser fetch nothing.
_QUIET_RELATIONS = frozenset({"author", "license", "help", "prev", "next", "canonical", "alternate", "tag", "bookmark"})


def is_inert(tag: str) -> bool:
    """Whether elements of a name do nothing by themselves when a page is opened."""
    return tag in _INERT_ELEMENTS


def active_attributes(tree: Tree) -> Iterator[tuple[Element, str]]:
    """Yield every inert element that may act by its attributes, with what it is.

    Handlers and presentation are violations of the format, and not repeated here.
    """
    if any(not _is_inert_attribute(name) for name in tree.attribute_names):
        suspects = tree.attributed
    else:
        refreshing = tree.all("meta") if "http-equiv" in tree.attribute_names else []
        suspects = [*refreshing, *tree.all("link"), *tree.all("a"), *tree.all("q")]
    for element in suspects:
        if element.tag in _INERT_ELEMENTS:
            yield from ((element, message) for message in _acts(element))


def is_safe_address(address: str) -> bool:
    """Whether following an address runs nothing: relative, or of a scheme that only leads somewhere."""
    scheme = _SCHEME.match(_IGNORED_IN_ADDRESSES.sub("", address))
    return scheme is None or scheme[0].lower() in _SAFE_SCHEMES


def _acts(element: Element) -> Iterator[str]:
    for name, value in element.attributes.items():
        if name in {"href", "cite"} and not is_safe_address(value):
            yield f'{name} of <{element.tag}> leads to "{value[:40]}"'
        elif element.tag not in {"html", "meta"} and not _is_inert_attribute(name):
            yield f"{name} attribute on <{element.tag}> is outside the attribute vocabulary"
    if element.tag == "meta" and element.attributes.get("http-equiv", "").strip().lower() == "refresh":
        yield "<meta http-equiv=refresh> leads elsewhere by itself"
    if element.tag == "link":
        words = element.attributes.get("rel", "").lower().split()
        if any(word not in _QUIET_RELATIONS and not word.startswith(PREFIX) for word in words):
            yield f'<link rel="{element.attributes["rel"]}"> makes a browser fetch something'


def _is_inert_attribute(name: str) -> bool:
    return name in _INERT_ATTRIBUTES or name in FORBIDDEN_ATTRIBUTES or name.startswith(("data-", "aria-", "on"))
