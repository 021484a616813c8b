"""Where Codex keeps its files. Pure: the environment is passed in."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


def codex_home(environment: Mapping[str, str], user_home: Path) -> Path:
    """Return the folder named by ``CODEX_HOME``, else ``~/.codex``."""
    named = environment.get("CODEX_HOME", "").strip()
    if not named:
        return user_home / ".codex"
    return user_home / named[2:] if named.startswith("~/") else Path(named)
