"""The formats that Fabula writes to disk, and their numbers."""

from __future__ import annotations


def formats() -> dict[str, int]:
    """Return the number of each format. A newer number is refused by an older Fabula."""
    from fabula.record.map.schema import VERSION

    return {"map": VERSION}
