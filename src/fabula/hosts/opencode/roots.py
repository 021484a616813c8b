"""Where OpenCode keeps its sessions. Pure: the environment is passed in."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from fabula.kernel.values import frozen

if TYPE_CHECKING:
    from collections.abc import Mapping


@frozen
class OpenCodeRoots:
    """The database of sessions, and the folder of JSON files that older versions kept instead."""

    database: Path
    storage: Path


def opencode_roots(environment: Mapping[str, str], user_home: Path) -> OpenCodeRoots:
    """Return what ``OPENCODE_DB`` and ``XDG_DATA_HOME`` name, else the places below ``~/.local/share/opencode``."""
    data = environment.get("XDG_DATA_HOME", "").strip()
    folder = (Path(data) if data else user_home / ".local" / "share") / "opencode"
    named = environment.get("OPENCODE_DB", "").strip()
    database = folder / named if named else folder / "opencode.db"  # an absolute path stands for itself
    return OpenCodeRoots(database, folder / "storage")
