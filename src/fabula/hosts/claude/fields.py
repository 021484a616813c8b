"""Reading fields of unknown types: whatever a field holds, these answer with the type that was asked for."""

from __future__ import annotations

from typing import Any

from fabula.kernel.canonical import canonical_json
from fabula.kernel.clock import parse_time
from fabula.kernel.ids import derived_id

#: Milliseconds at the start of a minute, by its text: transcripts hold many records a minute.
_minutes: dict[str, int] = {}
_MINUTES_KEPT = 4096


def text_of(value: object) -> str:
    """Return ``value`` when it is text, else ``""``."""
    return value if isinstance(value, str) else ""


def dict_of(value: object) -> dict[str, Any]:
    """Return ``value`` when it is a mapping, else an empty one."""
    return value if isinstance(value, dict) else {}


def time_of(value: object) -> int | None:
    """Read a timestamp as ``kernel.clock.parse_time`` does; the host's own form, ``…T12:34:56.789Z``, quickly."""
    if isinstance(value, str) and len(value) == 24 and value[23] == "Z" and value[19] == ".":
        minute = _minutes.get(value[:17])
        if minute is None:
            minute = _remember(value[:17])
        try:
            if minute is not None:
                return minute + int(value[17:19] + value[20:23])  # seconds and milliseconds, side by side
        except ValueError:
            return None
    try:
        return parse_time(value)
    except OverflowError:
        return None  # a year outside the calendar


def _remember(prefix: str) -> int | None:
    try:
        minute = parse_time(prefix + "00Z")
    except OverflowError:
        return None
    if minute is not None:
        if len(_minutes) >= _MINUTES_KEPT:
            _minutes.clear()
        _minutes[prefix] = minute
    return minute


def content_id(session: str, kind: str, content: object, offset: int) -> str:
    """Return the id of a record that has none: the same content in the same session is the same record.

    Content nested too deeply to be written canonically goes by its place in the file instead.
    """
    try:
        return derived_id("claude", session, kind, canonical_json(content))
    except (RecursionError, ValueError, TypeError):
        return derived_id("claude", session, kind, "at", offset)
