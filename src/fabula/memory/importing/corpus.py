"""Another corpus taken into this one: its files as they are, at their paths where these are free.

A fact that is known here stays away, and what leads to it is led to the one that is here. Files keep their bytes but
for head tags that lead to a path that is another one here.
"""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from fabula.kernel.errors import FabulaError
from fabula.memory.format.edit import add_link, remove_link, set_meta
from fabula.memory.format.findings import joined
from fabula.memory.format.paths import SUFFIX, target_of, why_not_writable
from fabula.memory.format.reader import read
from fabula.memory.format.vocabulary import relation_of
from fabula.memory.importing.values import Account, Placed, Skipped
from fabula.memory.standing.reinforcement import State
from fabula.memory.standing.sidecar import read_sidecar, write_sidecar
from fabula.memory.state.sources import SIDECAR
from fabula.memory.store.base import Base
from fabula.memory.store.messages import change_message
from fabula.memory.store.placing import Paths
from fabula.memory.store.stamps import SUPERSEDED_BY
from fabula.memory.store.values import Provenance
from fabula.storage.git.values import Put

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fabula.memory.format.reader import Reading
    from fabula.memory.importing.taking import Holders
    from fabula.memory.standing.reinforcement import Baseline
    from fabula.memory.store.store import Store


def take_corpus(
    store: Store, files: Mapping[str, bytes], sidecar: str, holders: Holders, *, subject: str, preview: bool
) -> Account:
    """Take the memories of another corpus over, or (``preview``) say what would be taken.

    ``files``: path -> bytes; ``sidecar``: its account of readings. Raises ``ERR_LOCKED``, ``ERR_GIT``, ``ERR_DISK`` …
    """
    readings, skipped = _readable(store, files)
    if preview:
        plan = _Plan(readings, Base(store.repo, store.repo.shop.head()), holders)
        return Account(plan.taken, plan.known, skipped)
    with store.writing() as work:
        plan = _Plan(readings, work.base, holders)
        puts = plan.puts()
        changes = [*puts, *_account_of(work.base, sidecar, plan.where)]
        message = change_message("import", f"{subject}: {len(puts)} taken over", Provenance())
        committed = work.commit(message, changes) if changes else None
        commit = committed.id if committed is not None else None
        return Account(plan.taken, plan.known, skipped, commit, tuple(work.notices))


def _readable(store: Store, files: Mapping[str, bytes]) -> tuple[dict[str, Reading], list[Skipped]]:
    """Return the memories among files, active ones first; and why the others are none that may be taken."""
    readings: dict[str, Reading] = {}
    skipped = []
    for path in sorted(files, key=lambda one: (one.startswith("archive/"), one)):
        reading = read(files[path])
        wrong = reading.violations or [one for one in reading.warnings if one.group == "active"]
        if wrong:
            skipped.append(Skipped(path, f"it is no memory: {joined(wrong)}"))
            continue
        try:
            store.refuse_secrets([reading.source.text])
        except FabulaError as error:
            skipped.append(Skipped(path, error.message))
            continue
        readings[path] = reading
    return readings, skipped


class _Plan:
    """Where each memory of the other corpus is here."""

    def __init__(self, readings: Mapping[str, Reading], base: Base, holders: Holders) -> None:
        self.taken: list[Placed] = []
        self.known: list[Placed] = []
        self.where: dict[str, str] = {}  # path there -> path here
        self._readings = readings
        self._base = base
        held = dict(holders({reading.fact_hash for reading in readings.values()}))
        paths = Paths(base)
        for path, reading in readings.items():
            there = held.get(reading.fact_hash)
            placed = Placed(path, there or _free(paths, path), reading.title)
            (self.taken if there is None else self.known).append(placed)
            held[reading.fact_hash] = self.where[path] = placed.path

    def puts(self) -> list[Put]:
        """Return the new files."""
        return [Put(one.path, self._led(one)) for one in self.taken]

    def _led(self, one: Placed) -> bytes:
        """Return a file whose head leads to where things are here."""
        reading = self._readings[one.key]
        data = reading.source.data
        for link in reading.links:
            relation, target = relation_of(link.rel), target_of(link.href)
            there = self._there(target)
            if relation is None or there == target:
                continue
            data = remove_link(data, relation, target)
            if there not in {None, one.path}:
                data = add_link(data, relation, str(there))
        successor = target_of(reading.head.superseded_by or "")
        there = self._there(successor) if successor else successor
        return set_meta(data, SUPERSEDED_BY, f"/{there}") if there and there != successor else data

    def _there(self, target: str) -> str | None:
        """Return where a target is here; ``None`` where only another memory has that path."""
        if target in self.where:
            return self.where[target]
        return None if self._base.entry(target) is not None else target


def _free(paths: Paths, path: str) -> str:
    """Return the path itself where it is free and good, else a free one beside it."""
    if why_not_writable(path) is None:
        try:
            return paths.exactly(path)
        except FabulaError as error:
            if error.code != "ERR_WRITE_CONFLICT":
                raise
    folder, name = posixpath.split(path)
    return paths.free(folder, name.removesuffix(SUFFIX))


def _account_of(base: Base, sidecar: str, where: Mapping[str, str]) -> list[Put]:
    """Return the account of readings with those of the other corpus: of each number the larger, so that adding the
    same again changes nothing.
    """
    entry = base.entry(SIDECAR)
    before = base.data(SIDECAR).decode("utf-8", "replace") if entry is not None else ""
    theirs = [one for one in read_sidecar(sidecar).baselines if one.path in where]
    if not theirs:
        return []
    states = {one.path: _state(one) for one in read_sidecar(before).baselines}
    for one in theirs:
        path = where[one.path]
        states[path] = _larger(states.get(path), _state(one))
    text = write_sidecar(states)
    return [Put(SIDECAR, text.encode(), entry.id if entry is not None else "")] if text != before else []


def _state(one: Baseline) -> State:
    return State(
        accesses=one.accesses,
        reinforcements=one.reinforcements,
        outcome=one.outcome,
        last_access=one.last_access,
        last_reinforced=one.last_reinforced,
        last_at=one.at,
    )


def _larger(one: State | None, other: State) -> State:
    if one is None:
        return other
    newer = other if other.last_at >= one.last_at else one
    return State(
        accesses=max(one.accesses, other.accesses),
        reinforcements=max(one.reinforcements, other.reinforcements),
        outcome=newer.outcome,
        last_access=max(one.last_access or 0, other.last_access or 0) or None,
        last_reinforced=max(one.last_reinforced or 0, other.last_reinforced or 0) or None,
        last_at=newer.last_at,
    )
