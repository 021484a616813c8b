"""Metas that stand once in a head: what holds when both sides changed one. Pure; the same whoever merges whom."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.memory.format.content import read_number
from fabula.memory.format.times import parse
from fabula.memory.format.vocabulary import OURS, PREFIX, TASK_STATUSES

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Scalars = Mapping[str, str]


def merged_scalars(base: Scalars, ours: Scalars, theirs: Scalars) -> dict[str, str]:
    """Return the metas that hold: what one side changed or took away, by rule where both did.

    ``type`` has no rule: where both changed it differently the caller has to see it (:func:`types_differ`).
    """
    later = later_of(ours, theirs)
    found: dict[str, str] = {}
    for name in [*ours, *(name for name in theirs if name not in ours)]:
        value = _merged(name, (base.get(name), ours.get(name), theirs.get(name)), later)
        if value is not None:
            found[name] = value
    return found


def types_differ(base: Scalars, ours: Scalars, theirs: Scalars) -> bool:
    """Say whether both sides gave a memory another type."""
    kinds = [side.get(f"{PREFIX}type") for side in (base, ours, theirs)]
    return len(set(kinds)) == 3


def later_of(ours: Scalars, theirs: Scalars) -> int:
    """Say who wrote last, by ``updated``: 1 ours, 2 theirs, 0 where both say the same."""
    first, second = (_moment(side.get(f"{PREFIX}updated", "")) for side in (ours, theirs))
    return 0 if first == second else 1 if first > second else 2


def _merged(name: str, values: tuple[str | None, str | None, str | None], later: int) -> str | None:
    base, ours, theirs = values
    if theirs in {ours, base}:
        return ours
    if ours == base:
        return theirs
    if ours is None or theirs is None:  # one took it away, the other changed it: what is said is not lost
        return ours if theirs is None else theirs
    rule = _RULES.get(name.removeprefix(PREFIX).removeprefix(OURS))
    if rule is not None:
        return rule(ours, theirs)
    return (max(ours, theirs), ours, theirs)[later]


def _moment(text: str) -> float:
    moment = parse(text)
    return moment.timestamp() if moment is not None else 0.0


def _earliest(one: str, other: str) -> str:
    return min((one, other), key=lambda text: (_moment(text), text))


def _latest(one: str, other: str) -> str:
    return max((one, other), key=lambda text: (_moment(text), text))


def _largest(one: str, other: str) -> str:
    return max((one, other), key=lambda text: (read_number(text) or 0.0, text))


def _furthest(one: str, other: str) -> str:
    """Return the state of a task that is further: what one side has done is done."""
    order = {status: at for at, status in enumerate(TASK_STATUSES)}
    return max((one, other), key=lambda text: (order.get(text, -1), text))


_RULES: dict[str, Callable[[str, str], str]] = {
    "updated": _latest,
    "created": _earliest,
    "valid-until": _earliest,
    "archived": _earliest,
    "reprieves": _largest,
    "status": lambda one, other: "archived" if "archived" in {one, other} else max(one, other),
    "needs-revision": lambda one, other: "true" if "true" in {one, other} else max(one, other),
    "task-status": _furthest,
}
