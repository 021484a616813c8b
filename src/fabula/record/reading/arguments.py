"""The arguments of a tool call as readable text: every field, edits and to-do lists included."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_DEEPEST = 8  # levels of nesting that are written out


def arguments_text(arguments: dict[str, Any], clean: Callable[[str], str] = lambda text: text) -> str:
    """Write one ``key: value`` line a field, nested values indented; ``clean`` is applied to every text.

    Texts are verbatim: their own lines are not indented, so that code can be copied out.
    """
    return "\n".join(_fields(arguments, 0, clean))


def _fields(value: dict[str, Any], level: int, clean: Callable[[str], str]) -> Iterator[str]:
    indent = "  " * level
    for key, item in value.items():
        if isinstance(item, dict | list) and item:
            yield f"{indent}{key}:"
            yield from _nested(item, level + 1, clean)
        else:
            yield f"{indent}{key}: {_scalar(item, clean)}"


def _nested(value: dict[str, Any] | list[Any], level: int, clean: Callable[[str], str]) -> Iterator[str]:
    indent = "  " * level
    if level > _DEEPEST:
        yield f"{indent}…"
    elif isinstance(value, dict):
        yield from _fields(value, level, clean)
    else:
        for item in value:
            if isinstance(item, dict | list) and item:
                first, *rest = _nested(item, level + 1, clean)
                yield f"{indent}- {first.lstrip()}"
                yield from rest
            else:
                yield f"{indent}- {_scalar(item, clean)}"


def _scalar(value: Any, clean: Callable[[str], str]) -> str:
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, int | float) or value is None:
        return json.dumps(value)
    return "[]" if isinstance(value, list) else "{}" if isinstance(value, dict) else clean(str(value))
