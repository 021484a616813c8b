"""Where OpenCode keeps its sessions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.kernel.values import frozen

if TYPE_CHECKING:
    from pathlib import Path


@frozen
class OpenCodeRoots:
    """The database of sessions, and the folder of JSON files that older versions kept instead."""

    database: Path
    storage: Path
