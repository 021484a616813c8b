"""Reading fields of foreign JSON: a value of a wrong type is as good as none, and nothing raises."""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

EMPTY: dict[str, Any] = {}


def text_of(value: Any, key: str) -> str:
    """Return ``value[key]`` when it is a text, else ``""``."""
    found = value.get(key) if isinstance(value, dict) else None
    return found if isinstance(found, str) else ""


def mapping_of(value: Any, key: str) -> dict[str, Any]:
    """Return ``value[key]`` when it is an object, else an empty one (never to be written to)."""
    found = value.get(key) if isinstance(value, dict) else None
    return found if isinstance(found, dict) else EMPTY


def list_of(value: Any, key: str) -> list[Any]:
    """Return ``value[key]`` when it is a list, else an empty one."""
    found = value.get(key) if isinstance(value, dict) else None
    return found if isinstance(found, list) else []


def count_of(value: Any, key: str) -> int:
    """Return ``value[key]`` when it is a number that can count something, else 0."""
    found = value.get(key) if isinstance(value, dict) else None
    if isinstance(found, bool) or not isinstance(found, int | float):
        return 0
    return int(found) if 0 <= found < 1 << 53 else 0


def state_of(state: dict[str, Any] | None, fresh: dict[str, Any]) -> dict[str, Any]:
    """Return ``fresh`` updated by those entries of a saved state whose types still fit."""
    for key, value in (state or EMPTY).items():
        if key in fresh and type(value) is type(fresh[key]):
            fresh[key] = value
    return fresh


def kind_name(*parts: object) -> str:
    """Return the name under which something is counted as skipped: its types, bounded, joined by ``/``."""
    return "/".join(part[:60] if isinstance(part, str) and part else "untyped" for part in parts)


@cache
def _decoder() -> Callable[[str], Any]:
    import msgspec

    return msgspec.json.Decoder().decode


def object_in(text: str) -> dict[str, Any] | None:
    """Return the object that a text of JSON holds; ``None`` when it holds none. All its texts are valid Unicode."""
    try:
        plain = text.isascii() and "\\u" not in text  # then the decoder that starts quickly says the same
        value = json.loads(text) if plain else _decoder()(text)
    except (ValueError, RecursionError):  # msgspec's errors are values' errors
        from fabula.record.containers.json_scan import decode_value

        try:  # lone surrogates, deep nesting
            value = decode_value(text.encode("utf-8", "surrogatepass"))
        except (ValueError, IndexError):
            return None
    return value if isinstance(value, dict) else None
