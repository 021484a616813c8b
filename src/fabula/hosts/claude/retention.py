"""How long Claude Code keeps its transcripts before it deletes them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

USUAL_DAYS = 30


def retention_days(root: Path) -> int:
    """Return ``cleanupPeriodDays`` of a config home's ``settings.json``; the usual number where it says nothing."""
    try:
        settings = json.loads((root / "settings.json").read_bytes())
    except (OSError, ValueError):
        return USUAL_DAYS
    days = settings.get("cleanupPeriodDays") if isinstance(settings, dict) else None
    return days if isinstance(days, int) and not isinstance(days, bool) and days >= 0 else USUAL_DAYS
