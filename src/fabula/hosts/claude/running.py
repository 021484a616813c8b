"""Which Claude Code sessions have a process: ``sessions/<pid>.json`` below a config home (since releases of 2026).

A file names ``pid``, ``sessionId`` and, on Linux, ``procStart``: the start of the process in clock ticks, which tells a
process from a later one with the same number. It stays behind when the process is killed.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Any

from fabula.hosts.claude.fields import text_of


def process_of(session: str, config: Path) -> int | None:
    """Return the process in which a session is open; ``None`` when none is known."""
    try:
        names = sorted(os.listdir(config / "sessions"))
    except OSError:
        return None
    for name in names:
        if name.endswith(".json"):
            with suppress(OSError, ValueError):
                entry = json.loads((config / "sessions" / name).read_bytes())
                if isinstance(entry, dict) and entry.get("sessionId") == session and _runs(entry):
                    return int(entry["pid"])
    return None


def _runs(entry: dict[str, Any]) -> bool:
    pid = entry.get("pid")
    if type(pid) is not int or pid <= 0:
        return False
    started, known = _start_of(pid), text_of(entry.get("procStart"))
    if started is not None:
        return not known or known == started
    if os.name == "nt" or Path("/proc/self").exists():
        return False  # Windows has no signal that only asks
    with suppress(OSError):
        os.kill(pid, 0)  # asks, sends nothing
        return True
    return False


def _start_of(pid: int) -> str | None:
    """Return when a process began, in clock ticks, on Linux."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as stat:
            return stat.read().rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return None
