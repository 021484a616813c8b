"""The script for a shell, as it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fabula.cli.output import Out
    from fabula.cli.verbs.completion import CompletionResult


def render(result: CompletionResult, out: Out) -> None:
    """Write the script."""
    out.raw(result.script.encode())
