"""Dates and times in memories.

Read is what the format has always allowed: a calendar day, with a time of day and an offset if wanted. Written is what
sorts as text and what every reader takes: ``2026-05-14`` or ``2026-05-14T08:20:00Z``.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache

_GRAMMAR = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)"
    r"(?:[T ]([01]\d|2[0-3]):([0-5]\d)(?::([0-5]\d|60)(?:\.(\d+))?)?(Z|[+-](?:[01]\d|2[0-3]):?[0-5]\d)?)?",
    re.ASCII,
)
_WRITTEN = re.compile(r"[1-9]\d{3}-\d\d-\d\d(?:T\d\d:\d\d:\d\dZ)?", re.ASCII)


def is_time(text: str) -> bool:
    """Whether a text is a day or a time of the grammar, on a day that exists."""
    return parse(text) is not None


def is_written_form(text: str) -> bool:
    """Whether a text is in one of the two forms that are written."""
    return bool(_WRITTEN.fullmatch(text)) and text[17:19] != "60" and is_time(text)


@lru_cache(maxsize=256)  # created and updated are often one, and days repeat
def parse(text: str) -> datetime | None:
    """Return the moment (UTC) a text names; ``None``: it names none.

    A day is its first moment, a time without an offset is UTC, and a leap second is the second before it.
    """
    match = _GRAMMAR.fullmatch(text)
    if match is None:
        return None
    year, month, day, hour, minute, second, fraction, zone = match.groups()
    try:
        date(int(year), int(month), int(day))
        micros = int((fraction or "0")[:6].ljust(6, "0"))
        clock = (int(hour or 0), int(minute or 0), min(int(second or 0), 59), micros)
        return datetime(int(year), int(month), int(day), *clock, tzinfo=UTC) - _offset(zone)
    except (ValueError, OverflowError):
        return None


def written(moment: datetime) -> str:
    """Write a moment as ``2026-05-14T08:20:00Z``, fractions of a second cut off."""
    return f"{moment.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"


def in_written_form(text: str) -> str | None:
    """Return a day or time in the form that is written, ``None`` where the text is none."""
    if is_written_form(text):
        return text
    moment = parse(text)
    return written(moment) if moment is not None and moment.year >= 1000 else None


def _offset(zone: str | None) -> timedelta:
    if zone is None or zone == "Z":
        return timedelta()
    digits = zone[1:].replace(":", "")
    size = timedelta(hours=int(digits[:2]), minutes=int(digits[2:]))
    return -size if zone.startswith("-") else size
