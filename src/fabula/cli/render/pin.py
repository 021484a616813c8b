"""A pin that was set or taken away, as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fabula.app.record.pin import PinResult
    from fabula.cli.output import Out


def render(result: PinResult, out: Out) -> None:
    """Say whether something is pinned now."""
    state = "pinned" if result.pinned else "not pinned"
    already = "" if result.changed else " (as it was)"
    out.line(f"{result.kind} {result.id} is {state}{already}")
