"""Is a session in use? Asked before a transcript is rewritten: what its agent writes meanwhile must not get lost."""

from __future__ import annotations

import os
import sys
from contextlib import suppress

#: A transcript written to within this time belongs to a session that goes on.
LIVE_SECONDS = 60


def written_recently(path: str, now_ms: int) -> int | None:
    """Return how many seconds ago a file was written, when that is less than a minute (0 for the future)."""
    age = now_ms / 1000 - os.stat(path).st_mtime
    return max(0, int(age)) if age < LIVE_SECONDS else None


def writer_of(path: str) -> int | None:
    """Return a process that has a file open for writing, on Linux; elsewhere nobody can be asked.

    Such a process would go on writing into the old file after it was replaced.
    """
    if not sys.platform.startswith("linux"):
        return None
    real = os.path.realpath(path)
    own = str(os.getpid())
    for process in os.listdir("/proc"):
        if process.isdecimal() and process != own:
            with suppress(OSError):  # another user's, or gone meanwhile
                for descriptor in os.listdir(f"/proc/{process}/fd"):
                    if os.readlink(f"/proc/{process}/fd/{descriptor}") == real and _writes(process, descriptor):  # noqa: PTH115 - thousands of them
                        return int(process)
    return None


def _writes(process: str, descriptor: str) -> bool:
    with open(f"/proc/{process}/fdinfo/{descriptor}", encoding="ascii") as info:
        flags = next((line.split()[1] for line in info if line.startswith("flags:")), "0")
    return int(flags, 8) & os.O_ACCMODE != os.O_RDONLY
