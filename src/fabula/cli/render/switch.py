"""The state of a project's switch as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fabula.app.switch import SwitchResult
    from fabula.cli.output import Out


def render(result: SwitchResult, out: Out) -> None:
    """Write one line."""
    state = "on" if result.enabled else "off"
    out.line(f"Fabula {'is now' if result.changed else 'was already'} {state} in {result.project}")
