"""The ledger: which files were ever seen, and the generations of each. Changes are gathered in the batch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.kernel.errors import FabulaError
from fabula.kernel.text import storable
from fabula.kernel.values import replace
from fabula.record.vault.journal import GenerationRow
from fabula.record.vault.values import SourceEntry

if TYPE_CHECKING:
    from fabula.kernel.clock import Clock
    from fabula.kernel.records import Provenance
    from fabula.record.vault.journal import Batch, Journal
    from fabula.record.vault.values import Generation


class Ledger:
    """The writer's view of sources and generations, uncommitted changes included.

    The writer alone changes these tables, so what it looked up once stays true for it.
    """

    def __init__(self, journal: Journal, batch: Batch, clock: Clock) -> None:
        self._journal = journal
        self._batch = batch
        self._clock = clock
        self._ids: dict[tuple[str, str], int] = {}
        self._entries: dict[int, SourceEntry] = {}
        self._generations: dict[int, dict[int, Generation]] = {}  # of a source: id -> value, in order of beginning
        self._next_source = journal.last_id("sources") + 1
        self._empty = self._next_source == 1  # what is not remembered here is new: no need to ask the journal
        self._next_generation = journal.last_id("generations") + 1

    def source(self, host: str, path: str, kind: str, session: str, parent: str) -> SourceEntry:
        """Return the entry for a file; at first sight it is written down."""
        known = self._ids.get((host, path))
        if known is not None:
            return self.entry(known)
        found = None if self._empty else self._journal.source_at(host, path)
        if found is not None:
            return self._keep(found)
        now = self._clock.now_ms()
        found = SourceEntry(self._next_source, host, path, kind, storable(session), now, now, 0, None, storable(parent))
        self._next_source += 1
        self._batch.sources[found.id] = found
        return self._keep(found)

    def entry(self, source_id: int) -> SourceEntry:
        """Return an entry with its generations. Raises ``ERR_NOT_FOUND``."""
        entry = self._entries.get(source_id)
        if entry is None:
            found = self._journal.sources("where id=?", (source_id,))
            if not found:
                raise FabulaError("ERR_NOT_FOUND", f"the vault has no source {source_id}")
            entry = self._keep(found[0])
        generations = tuple(self._generations[source_id].values())
        return entry if generations == entry.generations else replace(entry, generations=generations)

    def _keep(self, entry: SourceEntry) -> SourceEntry:
        self._ids[entry.host, entry.path] = entry.id
        self._entries[entry.id] = entry
        self._generations[entry.id] = {generation.id: generation for generation in entry.generations}
        return entry

    def _change(self, entry: SourceEntry) -> None:
        self._entries[entry.id] = self._batch.sources[entry.id] = entry

    def seen(self, source_id: int, size: int, session: str | None) -> None:
        """Note that a file is there now."""
        entry = self.entry(source_id)
        session = entry.session if session is None else storable(session)
        self._change(replace(entry, last_seen=self._clock.now_ms(), size=size, vanished_at=None, session=session))

    def vanished(self, source_id: int) -> None:
        """Note that a file is gone; the first time counts."""
        entry = self.entry(source_id)
        if entry.vanished_at is None:
            self._change(replace(entry, vanished_at=self._clock.now_ms()))

    def begin(self, source_id: int, provenance: Provenance, *, immutable: bool, number: int | None) -> Generation:
        """Begin a generation; a number that exists gives that generation back."""
        known = self.entry(source_id).generations
        for generation in known:
            if generation.number == number:
                return generation
        if number is None:
            number = max((generation.number for generation in known), default=-1) + 1
        now = self._clock.now_ms()
        row = GenerationRow(
            self._next_generation, source_id, number, provenance, int(immutable), 0, None, b"", now, now
        )
        self._next_generation += 1
        return self.grown(row)

    def row(self, generation_id: int) -> GenerationRow:
        """Return a generation with its tail. Raises ``ERR_NOT_FOUND``."""
        row = self._batch.generations.get(generation_id) or self._journal.generation(generation_id)
        if row is None:
            raise FabulaError("ERR_NOT_FOUND", f"the vault has no generation {generation_id}")
        return row

    def grown(self, row: GenerationRow) -> Generation:
        """Note that a generation is new or changed."""
        row.sealed_at = self._clock.now_ms()
        self._batch.generations[row.id] = row
        value = row.value()
        if row.source_id not in self._generations:
            self.entry(row.source_id)
        self._generations[row.source_id][row.id] = value
        return value
