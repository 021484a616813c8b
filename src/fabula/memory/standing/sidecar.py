"""The account of readings that memhtml commits (``.memhtml/state/access.jsonl``): read as baselines, written. Pure.

One JSON object a line, ordered by path: ``path, accessCount, reinforcementCount, outcomeScore, lastAccessedAt,
lastReinforcedAt, updatedAt``. Times are ISO 8601 in UTC or null.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from fabula.kernel.clock import format_time, parse_time
from fabula.kernel.values import frozen
from fabula.memory.standing.numbers import clamp
from fabula.memory.standing.reinforcement import Baseline, key_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fabula.memory.standing.reinforcement import State


@frozen
class Account:
    """What a sidecar holds; ``skipped`` counts lines that are no account of a memory."""

    baselines: list[Baseline]
    skipped: int


def read_sidecar(text: str) -> Account:
    """Read a sidecar line by line. A value of the wrong kind counts as none; no line keeps others from being read."""
    found: list[Baseline] = []
    skipped = 0
    for line in filter(str.strip, text.split("\n")):
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            row = None
        path = row.get("path") if isinstance(row, dict) else None
        if isinstance(path, str) and key_of(path):
            found.append(_baseline(key_of(path), row))
        else:
            skipped += 1
    return Account(found, skipped)


def _baseline(path: str, row: dict[str, Any]) -> Baseline:
    return Baseline(
        path,
        _count(row.get("accessCount")),
        _count(row.get("reinforcementCount")),
        clamp(_number(row.get("outcomeScore")), -1.0, 1.0),
        parse_time(row.get("lastAccessedAt")),
        parse_time(row.get("lastReinforcedAt")),
        parse_time(row.get("updatedAt")) or 0,
    )


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else 0.0


def _count(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


def write_sidecar(states: Mapping[str, State]) -> str:
    """Write states as a sidecar: same states, same bytes; no states, an empty text."""
    return "".join(_line(path, states[path]) for path in sorted(states))


def _line(path: str, state: State) -> str:
    updated = max(state.last_at, state.last_access or 0, state.last_reinforced or 0)
    row = {
        "path": path,
        "accessCount": state.accesses,
        "reinforcementCount": state.reinforcements,
        "outcomeScore": _short(state.outcome),
        "lastAccessedAt": format_time(state.last_access) or None,
        "lastReinforcedAt": format_time(state.last_reinforced) or None,
        "updatedAt": format_time(updated),
    }
    return json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n"


def _short(outcome: float) -> float:
    """Round to four digits, whole numbers as such; minus nothing is nothing."""
    value = round(outcome, 4)
    return int(value) if value == int(value) else value
