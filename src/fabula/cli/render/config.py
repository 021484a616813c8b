"""Settings as text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fabula.app.settings import SettingsResult
    from fabula.cli.output import Out


def render(result: SettingsResult, out: Out) -> None:
    """Write each key with its value, where it came from and what it means."""
    out.line(f"{out.bold(result.file)}{'' if result.exists else out.dim(' (does not exist: defaults)')}")
    for row in result.settings:
        origin = f"{row.origin} {row.detail}".strip() if row.origin != "file" else "file"
        out.line(f"{row.key} = {_shown(row.value)}  {out.dim(f'[{origin}] {row.meaning}')}")


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, tuple | list):
        return "[" + ", ".join(_shown(part) for part in value) + "]"
    return f'"{value}"'
