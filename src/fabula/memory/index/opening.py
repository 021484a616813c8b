"""The one door to the index of a corpus."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from fabula.memory.index.memory_index import MemoryIndex
from fabula.memory.index.source import Corpus

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from fabula.kernel.clock import Clock
    from fabula.storage.git.repo import Repo


def open_index(root: Path, repo: Callable[[], Repo], clock: Clock, *, scratch: Path | None = None) -> MemoryIndex:
    """Open the index of a corpus, made when there is none; ``refresh`` fills it.

    ``repo`` opens the repository when git is needed. Where the corpus cannot be written the index lies below
    ``scratch``, else in memory, and ``notices`` say so. Stamps of files are compared with the system's own clock.
    Raises ``ERR_DATABASE``, ``ERR_LOCKED``.
    """
    return MemoryIndex(Corpus(root, repo, time.time_ns), clock, scratch)
