"""Where Gemini CLI keeps its chats. Pure: the environment is passed in."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


def gemini_home(environment: Mapping[str, str], user_home: Path) -> Path:
    """Return ``.gemini`` in the folder named by ``GEMINI_CLI_HOME``, else in the user's home."""
    named = environment.get("GEMINI_CLI_HOME", "").strip()
    return (Path(named) if named else user_home) / ".gemini"
