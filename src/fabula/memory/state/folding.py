"""What the entries of logs come to: a function of their set, in whatever order and how often they are met. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.kernel.values import frozen, replace
from fabula.memory.standing.reinforcement import Event, fold
from fabula.memory.state.entries import CORROBORATED, CORROBORATED_NAME, HANDED, MOVED, SIGNAL_OF
from fabula.memory.state.names import Names
from fabula.memory.state.thinning import by_name

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fabula.memory.standing.reinforcement import Baseline, State
    from fabula.memory.state.entries import Entry

#: Kinds that are no action of a session on a memory.
_NO_ACTION = frozenset((MOVED, HANDED, CORROBORATED, CORROBORATED_NAME))


@frozen
class Link:
    """What a session did with a memory: from when to when (ms), and how many times that counts."""

    session: str
    path: str
    action: str
    first: int
    last: int
    times: int


@frozen
class Folded:
    """States and links by the paths of now."""

    states: dict[str, State]
    links: list[Link]


@frozen
class Corroboration:
    """How often a guess was seen. ``relation`` is empty for names: ``source`` (``type:alias``) means ``target``."""

    source: str
    relation: str
    target: str
    detections: int
    confirmed: bool
    promoted: bool
    dismissed: bool
    updated: int


def folded(entries: Iterable[Entry], baselines: Iterable[Baseline] = ()) -> Folded:
    """Fold entries of one family of paths, or of all, with what another tool counted before."""
    entries = list(entries)
    kept = by_name(entries)
    names = Names(entries)
    begun = [replace(one, path=names.now(one.path, (one.at, ""))) for one in baselines]
    events = [
        Event(entry.id, entry.at, path, SIGNAL_OF[entry.kind])  # type: ignore[arg-type]
        for entry, path in kept
        if entry.kind in SIGNAL_OF
    ]
    return Folded(fold(events, baselines=begun), _links(kept))


def _links(kept: Iterable[tuple[Entry, str]]) -> list[Link]:
    found: dict[tuple[str, str, str], Link] = {}
    for entry, path in kept:
        if not entry.session or not path or entry.kind in _NO_ACTION:
            continue
        key = entry.session, path, entry.kind
        known = found.get(key)
        found[key] = (
            replace(known, last=entry.at, times=known.times + 1) if known else Link(*key, entry.at, entry.at, 1)
        )
    return sorted(found.values(), key=lambda link: (link.first, link.path, link.action, link.session))


def corroborated(entries: Iterable[Entry]) -> list[Corroboration]:
    """Count what was said of guesses, both ends by the paths of now. Hand in moves too, and what begins at a path."""
    entries = list(entries)
    names = Names(entries)
    groups: dict[tuple[str, str, str], dict[str, Entry]] = {}
    for entry in entries:
        if entry.kind == CORROBORATED:
            ends = names.now(entry.path, entry.order), entry.relation, names.now(entry.to, entry.order)
        elif entry.kind == CORROBORATED_NAME:
            ends = entry.path, "", entry.to
        else:
            continue
        groups.setdefault(ends, {})[entry.id] = entry
    return [_counted(ends, list(found.values())) for ends, found in sorted(groups.items())]


def _counted(ends: tuple[str, str, str], said: list[Entry]) -> Corroboration:
    verdicts = {entry.verdict for entry in said}
    return Corroboration(
        *ends,
        detections=sum(entry.verdict == "seen" for entry in said),
        confirmed="confirmed" in verdicts,
        promoted="promoted" in verdicts,
        dismissed="dismissed" in verdicts,
        updated=max(entry.at for entry in said),
    )
