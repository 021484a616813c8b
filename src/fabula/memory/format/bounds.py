"""What is too much to be read at all.

HTML opens formatting elements again in every paragraph after the one they were left open in. So a file of 120 KB can
stand for eighteen million elements and take two gigabytes. Whether it may is seen before it is parsed.
"""

from __future__ import annotations

import re

#: A file larger than this is no memory: sixteen times what is written at most.
LARGEST = 4 * 1024 * 1024
#: Up to so many tags nothing grows far.
_FEW_TAGS = 2_000
#: Elements that stay open at most, whatever a file says, and how many they may become.
_DEEPEST, _MOST = 600, 1_000_000
_FORMATTING = "a|b|big|code|em|font|i|nobr|s|small|strike|strong|tt|u"
_OPENED = re.compile(rf"<(?:{_FORMATTING})(?=[\s/>])", re.IGNORECASE)
_CLOSED_AT_ONCE = re.compile(rf"<({_FORMATTING})(?:\s[^<>]*)?>[^<]*</\1>", re.IGNORECASE)


def why_too_much(text: str) -> str | None:
    """Return why a text is not parsed, ``None`` where it may be."""
    if len(text) > LARGEST:
        return f"the file is larger than {LARGEST} bytes"
    tags = text.count("<")
    if tags <= _FEW_TAGS:
        return None
    left_open = len(_OPENED.findall(text)) - len(_CLOSED_AT_ONCE.findall(text))
    if min(left_open, _DEEPEST) * tags > _MOST:
        return f"{left_open} formatting elements may be left open over {tags} tags"
    return None
