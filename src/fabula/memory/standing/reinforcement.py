"""How often a memory was read and how it turned out: a fold of logged events. Pure.

The state of a memory is a function of the *set* of events: logs of several machines may be split, repeated and joined
in any way, and give the same. No counter that already is a sum is merged, so nothing is lost between machines.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from fabula.kernel.values import frozen
from fabula.memory.standing.constants import COOLDOWN_MS, SIGNALS
from fabula.memory.standing.decay import outcome_after

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

Signal = Literal["positive", "negative", "neutral"]


@frozen
class Event:
    """A reading of a memory (``neutral``), or word of how it served. ``id``: unique over all machines; ``at`` in ms."""

    id: str
    at: int
    path: str
    signal: Signal = "neutral"


@frozen
class State:
    """What the events of one memory come to.

    ``accesses`` counts readings, those that followed within the cool-down as one; ``reinforcements`` counts every word
    of praise or blame; ``outcome`` in [-1, 1] is their moving average. Times in ms; ``None``: never. ``last_id`` is
    that of the last event, by time and then id.
    """

    accesses: int = 0
    reinforcements: int = 0
    outcome: float = 0.0
    last_access: int | None = None
    last_reinforced: int | None = None
    last_at: int = -1
    last_id: str = ""


EMPTY = State()


@frozen
class Baseline:
    """What another tool counted of a memory before us. ``at`` (ms): when that was last brought up to date."""

    path: str
    accesses: int = 0
    reinforcements: int = 0
    outcome: float = 0.0
    last_access: int | None = None
    last_reinforced: int | None = None
    at: int = 0


def is_event(event: Event, now: int) -> bool:
    """Say whether an event may be logged: of a known signal, about a path, not from the future."""
    return bool(event.id and key_of(event.path)) and event.signal in SIGNALS and 0 <= event.at <= now


def cooled_down(state: State, at: int) -> bool:
    """Say whether a reading counts as one more: 900 s or more after the last that did (the boundary counts)."""
    return state.last_access is None or at - state.last_access >= COOLDOWN_MS


def key_of(path: str) -> str:
    """Return the one name of a memory: ``/areas//a.html`` and ``areas/a.html`` are the same."""
    return "/".join(part for part in path.split("/") if part)


def after(state: State, event: Event) -> State:
    """Return the state after one more event, the latest so far.

    The cool-down holds back access counts alone: "read it, it worked" within a quarter of an hour counts as both. The
    first word sets the outcome outright, later ones by 0.3, whether a reading came before it or not.
    """
    value = SIGNALS[event.signal]
    counts = cooled_down(state, event.at)
    outcome, reinforced = state.outcome, state.last_reinforced
    if value:
        outcome = outcome_after(outcome, value) if state.reinforcements else value
        reinforced = event.at
    return State(
        accesses=state.accesses + counts,
        reinforcements=state.reinforcements + bool(value),
        outcome=outcome,
        last_access=event.at if counts else state.last_access,
        last_reinforced=reinforced,
        last_at=event.at,
        last_id=event.id,
    )


def follows(state: State, event: Event) -> bool:
    """Say whether an event comes after all that a state was made of: then :func:`after` is enough, else fold anew."""
    return (event.at, event.id) > (state.last_at, state.last_id)


def fold(
    events: Iterable[Event], moves: Mapping[str, str] | None = None, baselines: Iterable[Baseline] = ()
) -> dict[str, State]:
    """Return the state of every memory, by path, given all events of all machines in any order, repeated or not.

    ``moves`` says where a memory went (old path to new one): what was logged under an old name counts for the new one.
    ``baselines`` are what events go on from; of several of one memory see :func:`begun`. Of two events with one id the
    same one always counts.
    """
    distinct: dict[str, Event] = {}
    for event in events:
        known = distinct.get(event.id)
        if known is None or _order(event) < _order(known):
            distinct[event.id] = event
    states = begun(baselines, moves or {})
    names: dict[str, str] = {}
    for event in sorted(distinct.values(), key=_order):
        path = names.get(event.path)
        if path is None:
            path = names[event.path] = moved(key_of(event.path), moves or {})
        states[path] = after(states.get(path, EMPTY), event)
    return dict(sorted(states.items()))


def begun(baselines: Iterable[Baseline], moves: Mapping[str, str]) -> dict[str, State]:
    """Return the states that baselines give: the largest counts and latest times of each memory, the latest outcome.

    Older and newer copies of one account are one account: they are not added up, and taking one in twice changes
    nothing. A time that is not known stays so.
    """
    groups: dict[str, list[Baseline]] = {}
    for one in baselines:
        groups.setdefault(moved(key_of(one.path), moves), []).append(one)
    return {
        path: State(
            accesses=max(one.accesses for one in found),
            reinforcements=max(one.reinforcements for one in found),
            outcome=max((one.at, one.outcome) for one in found)[1],
            last_access=max((one.last_access for one in found if one.last_access is not None), default=None),
            last_reinforced=max(
                (one.last_reinforced for one in found if one.last_reinforced is not None), default=None
            ),
        )
        for path, found in groups.items()
    }


def moved(path: str, moves: Mapping[str, str]) -> str:
    """Follow moves to where a memory is now; where they run in a circle, the smallest of its names."""
    seen = [path]
    while (path := moves.get(path, path)) != seen[-1]:
        if path in seen:
            return min(seen[seen.index(path) :])
        seen.append(path)
    return path


def _order(event: Event) -> tuple[int, str, str, str]:
    return event.at, event.id, event.path, event.signal
