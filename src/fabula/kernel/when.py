"""Times as people type them: ``2026-03-01``, ``2026-03-01T14:00``, ``7d`` ago, ``today``, ``yesterday``."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from fabula.kernel.clock import parse_time

_UNITS = {"m": 60_000, "h": 3_600_000, "d": 86_400_000, "w": 7 * 86_400_000}
_DAY = _UNITS["d"]
_NAMED = re.compile(r"today|yesterday|\d{4}-\d\d(?:-\d\d)?|\d{8}", re.ASCII)


def read_when(text: str, now_ms: int) -> int | None:
    """Return milliseconds since the epoch (UTC days), or ``None`` when ``text`` is no time.

    ``30m``, ``12h``, ``7d`` and ``2w`` mean that long before ``now_ms``; ``2026-03`` is the first day of that month.
    """
    word = text.strip().lower()
    if word in {"today", "yesterday", "now"}:
        return {"now": now_ms, "today": now_ms - now_ms % _DAY}.get(word, now_ms - now_ms % _DAY - _DAY)
    if word[-1:] in _UNITS and word[:-1].isascii() and word[:-1].isdigit() and len(word) <= 7:
        return max(0, now_ms - int(word[:-1]) * _UNITS[word[-1]])
    return _month(word) if len(word) == 7 else parse_time(text.strip().upper())


def read_until(text: str, now_ms: int) -> int | None:
    """Read the end of a span of time, which is not part of it: a day or month that was named counts to its end."""
    moment = read_when(text, now_ms)
    word = text.strip().lower()
    if moment is None or not _NAMED.fullmatch(word):
        return moment
    if len(word) == 7 and word[0].isdigit():
        return _month(f"{word[:4]}-{int(word[5:]) + 1:02}" if word[5:] != "12" else f"{int(word[:4]) + 1:04}-01")
    return moment + _DAY


def _month(word: str) -> int | None:
    year, dash, month = word.partition("-")
    if not (dash and year.isdecimal() and month.isdecimal() and year.isascii() and month.isascii()):
        return parse_time(word)
    try:
        return round(datetime(int(year), int(month), 1, tzinfo=UTC).timestamp() * 1000)
    except ValueError:
        return None
