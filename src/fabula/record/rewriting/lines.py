"""Changing one line: decoded, edited and encoded as the clients encode, with nothing else of it lost."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from fabula.kernel.records import SLIMMED_KEY

if TYPE_CHECKING:
    from collections.abc import Callable

#: The key that every line which Fabula slimmed carries: a reader ranks that copy below the original one.
MARK = SLIMMED_KEY

_ESCAPED_SURROGATES = (b"\\ud", b"\\uD")


def line(value: Any) -> bytes:
    """Encode a value in the clients' form: compact, not escaped, keys in their order. Raises ``ValueError`` for NaN."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.encode("utf-8", "backslashreplace")  # of a lone surrogate that is the escape that JSON has for it


def edited(raw: bytes, edit: Callable[[dict[str, Any]], object]) -> bytes | None:
    """Return one JSON object after ``edit`` changed it in place, with the mark; ``None`` when bytes would be lost.

    Bytes that are no UTF-8 come out as they went in, unless escapes stand beside them that look like them.
    """
    try:
        text, restore = raw.decode(), "backslashreplace"
    except UnicodeDecodeError:
        if any(escape in raw for escape in _ESCAPED_SURROGATES):
            return None
        text, restore = raw.decode("utf-8", "surrogateescape"), "surrogateescape"
    try:
        value = json.loads(text)
        if not isinstance(value, dict):
            return None
        edit(value)
        value[MARK] = True
        out = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    except (ValueError, RecursionError):  # numbers that do not come back, nesting without end
        return None
    return out.encode("utf-8", restore)
