"""From a title to a file's name: ``Démarré à l'été`` becomes ``demarre-a-l-ete``."""

from __future__ import annotations

import re
import unicodedata

LONGEST = 80
UNTITLED = "untitled"
_OTHER = re.compile("[^a-z0-9]+")
_SLUG = re.compile("[a-z0-9]+(?:-[a-z0-9]+)*")
_DEVICE = re.compile("con|prn|aux|nul|(?:com|lpt)[0-9]")


def slug(title: str) -> str:
    """Return a name of 1 to 80 letters, digits and single hyphens; a slug is its own slug.

    A title without a Latin letter or digit becomes ``untitled``; a name that Windows keeps for a device gets an ending.
    """
    letters = (c for c in unicodedata.normalize("NFKD", title) if unicodedata.category(c) != "Mn")
    name = _OTHER.sub("-", "".join(letters).lower()).strip("-")
    name = name[:LONGEST].rstrip("-") or UNTITLED
    return f"{name}-x" if _DEVICE.fullmatch(name) else name


def is_slug(name: str) -> bool:
    """Whether a name is a slug."""
    return len(name) <= LONGEST and bool(_SLUG.fullmatch(name))


def numbered(name: str, ordinal: int) -> str:
    """Return the n-th slug for a name that is taken: ``-2``, ``-3`` and so on; 1 is the name itself.

    No two ordinals of one name give the same slug: where cutting would give the name back, one letter more goes.
    """
    if ordinal <= 1:
        return name
    ending = f"-{ordinal}"
    stem = name[: LONGEST - len(ending)].rstrip("-")
    if stem + ending == name:
        stem = stem[:-1].rstrip("-")
    return stem + ending
