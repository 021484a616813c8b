"""Time: the injected clock, and the one reader and writer of timestamps.

Times are integer milliseconds since the Unix epoch, UTC.
"""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import Protocol

MILLISECOND_LIMIT = 253_402_300_800_000  # year 10000: beyond it a number is no timestamp


class Clock(Protocol):
    """Says what time it is; tests pass their own."""

    def now_ms(self) -> int:
        """Milliseconds since the epoch."""
        ...


class SystemClock:
    """The machine's clock."""

    def now_ms(self) -> int:
        """Milliseconds since the epoch."""
        return time.time_ns() // 1_000_000


def parse_time(value: object) -> int | None:
    """Read an ISO-8601 text, or an epoch number in seconds or milliseconds; ``None`` when it is no time."""
    if isinstance(value, str):
        try:
            moment = datetime.fromisoformat(value)
        except ValueError:
            return None
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        return round(moment.timestamp() * 1000)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < MILLISECOND_LIMIT:
        return None  # NaN lies in no range
    return int(value if value >= 1e11 else value * 1000)


def format_time(millis: int | None) -> str:
    """Write milliseconds as ``YYYY-MM-DDTHH:MM:SS.mmmZ``; an unknown time as ``""``."""
    if millis is None:
        return ""
    moment = datetime.fromtimestamp(millis // 1000, UTC)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{millis % 1000:03d}Z"
