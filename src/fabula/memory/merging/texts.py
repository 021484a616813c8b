"""Files that are no memories: logs as unions of their lines, memhtml's account of readings row by row. Pure.

A log is written by one replica and only grows; two clones of one replica may both have added to it.
"""

from __future__ import annotations

import json
import re
from typing import Any

from fabula.memory.format.paths import GENERATED

ACCOUNT = ".memhtml/state/access.jsonl"
_LOG = re.compile(r"\.fabula/(?:state|log)/.+\.jsonl")
_COUNTS = ("accessCount", "reinforcementCount")
_TIMES = ("lastAccessedAt", "lastReinforcedAt")


def is_log(path: str) -> bool:
    """Say whether a file is a log of a replica."""
    return bool(_LOG.fullmatch(path))


def is_generated(path: str) -> bool:
    """Say whether a file is made anew at will, so that ours is as good as theirs."""
    return path.rpartition("/")[2] in GENERATED


def merge_logs(base: bytes, ours: bytes, theirs: bytes) -> bytes:
    """Return every line of both once: those that were common first, as they stood, then the others by time."""
    common = dict.fromkeys(_lines(base))
    for side in (ours, theirs):
        present = set(_lines(side))
        common = {line: None for line in common if line in present}
    added = {line for side in (ours, theirs) for line in _lines(side)} - common.keys() - set(_lines(base))
    lines = [*common, *sorted(added, key=lambda line: (_time_of(line), line))]
    return b"".join(line + b"\n" for line in lines)


def merge_accounts(base: bytes, ours: bytes, theirs: bytes) -> bytes:
    """Add up what both sides counted since; a later time holds, and the outcome of who wrote last."""
    sides = [_rows(data) for data in (base, ours, theirs)]
    rows = []
    for path in sorted(sides[1].keys() | sides[2].keys()):
        before, one, other = (side.get(path) for side in sides)
        if one is None or other is None:
            row = one or other or {}
            rows.append(row if before is None else {})
        else:
            rows.append(_added_up(before or {}, one, other))
    kept = [row for row in rows if row]
    return b"".join(json.dumps(row, ensure_ascii=False, separators=(",", ":")).encode() + b"\n" for row in kept)


def _lines(data: bytes) -> list[bytes]:
    return [line for line in data.split(b"\n") if line.strip()]


def _time_of(line: bytes) -> tuple[int, str]:
    """Return when a line says it was written, as something that sorts; lines that do not say come first."""
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        return 0, ""
    if not isinstance(row, dict):
        return 0, ""
    value = next((row[name] for name in ("at", "ts", "time") if name in row), None)
    if isinstance(value, int) and not isinstance(value, bool):
        return value, ""
    return 0, value if isinstance(value, str) else ""


def _rows(data: bytes) -> dict[str, dict[str, Any]]:
    found = {}
    for line in _lines(data):
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(row, dict) and isinstance(row.get("path"), str):
            found[row["path"]] = row
    return found


def _added_up(base: dict[str, Any], ours: dict[str, Any], theirs: dict[str, Any]) -> dict[str, Any]:
    newer = max(ours, theirs, key=lambda row: (str(row.get("updatedAt") or ""), json.dumps(row, sort_keys=True)))
    row = dict(newer)
    for name in [name for name in _COUNTS if name in {**ours, **theirs}]:
        counts = [value if isinstance(value := side.get(name), int) else 0 for side in (base, ours, theirs)]
        row[name] = max(counts[1], counts[2], counts[1] + counts[2] - counts[0])
    for name in [name for name in _TIMES if name in {**ours, **theirs}]:
        row[name] = max((side.get(name) for side in (ours, theirs)), key=lambda time: str(time or ""))
    return row
