"""The one way in which Fabula ever rewrites a host's transcript.

    lock · one read · seal and map it · plan · evict gate · temporary file · tail · seal the new bytes · replace · map

A process that dies leaves the old file or the new one. Every state that ever stands on the disk was sealed before: the
old bytes as the generation they are, the new ones as the next. What the host appends meanwhile is carried over.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING

from fabula.kernel.errors import FabulaError
from fabula.kernel.records import Accounting
from fabula.kernel.values import define, frozen, replace
from fabula.record.containers.jsonl import JsonLines
from fabula.record.map.files import file_at
from fabula.record.map.store import open_map
from fabula.record.rewriting.gate import is_sealed, require_sealed
from fabula.record.rewriting.leftovers import clear_leftovers, forget_temporary, note_temporary
from fabula.record.rewriting.links import Link, note_link
from fabula.record.rewriting.plan import Plan, Snapshot
from fabula.record.rewriting.source import OpenSource, temporary_name
from fabula.record.scan.finding import Findings, Work
from fabula.record.scan.reading import FileReading
from fabula.record.scan.report import ScanReport
from fabula.record.scan.run import run_scan
from fabula.record.scan.straining import sieve_for
from fabula.record.vault.vault import Vault
from fabula.storage.locks import FileLock

if TYPE_CHECKING:
    import apsw

    from fabula.kernel.clock import Clock
    from fabula.kernel.paths import Home
    from fabula.kernel.records import SourceFile
    from fabula.record.map.files import KnownFile
    from fabula.record.scan.changes import Change
    from fabula.record.sources import Source
    from fabula.record.vault.values import Generation

LOCK_WAIT_SECONDS = 60.0

#: Decides over one read; the vault is open and holds what was read as the generation of this id.
Planner = Callable[[Snapshot, Vault, int], Plan]


@frozen
class Rewritten:
    """What a rewriting did: sizes in bytes, ``tail`` is what the host appended meanwhile, generations by their numbers.

    ``new`` is ``None`` when the plan changed nothing: then nothing was written.
    """

    plan: Plan
    before: int
    after: int
    tail: int
    old: int
    new: int | None


@define
class Job:
    """One rewriting of one file of JSON lines.

    ``find`` looks at the file's stat; ``require_idle`` raises ``ERR_LIVE`` while the session is in use. ``kind`` is
    kept with the link between the generations; ``slims`` says whether the new bytes hold less than the old.
    """

    home: Home
    clock: Clock
    source: Source
    find: Callable[[], SourceFile]
    require_idle: Callable[[SourceFile], None]
    kind: str
    slims: bool = True

    def run(self, planner: Planner) -> Rewritten:
        """Rewrite the file, alone among all processes of this record.

        Raises ``ERR_LOCKED``, ``ERR_LIVE``, ``ERR_UNSEALED``, ``ERR_CHANGED``, ``ERR_STALE`` (it could not be read),
        ``ERR_DISK``, ``ERR_READ_ONLY``, and what the planner refuses with; the file is then as it was.
        """
        with FileLock(self.home.lock, LOCK_WAIT_SECONDS):
            clear_leftovers(self.home.root)
            file = self.find()
            self.require_idle(file)
            connection = open_map(self.home.map)
            try:
                with OpenSource(file.path) as opened:
                    snapshot = opened.read()
                    known, whole = self._sealed(connection, snapshot)
                    with Vault.open(self.home.vault, self.clock) as vault:
                        done = self._rewrite(opened, snapshot, planner, vault, known, whole=whole)
                    if done.new is not None:
                        self._take_in(connection, self.find(), "rewritten")
                        opened.rescue()
                return done
            finally:
                connection.close()

    def _rewrite(
        self, opened: OpenSource, snapshot: Snapshot, planner: Planner, vault: Vault, known: KnownFile, *, whole: bool
    ) -> Rewritten:
        """Plan, pass the gate, replace. ``whole``: the known generation holds all that was read."""
        assert known.vault_generation is not None
        entry = vault.source(known.host, known.path, known.kind, "")
        base = next(each for each in entry.generations if each.id == known.vault_generation)
        plan = planner(snapshot, vault, base.id)
        before = len(snapshot.data)
        if not plan.cuts:
            return Rewritten(plan, before, before, 0, base.number, None)
        if not whole:
            require_sealed(vault, base.id, snapshot, plan)
        self.require_idle(self.find())
        begun: list[Generation] = []

        def seal(temporary: str) -> None:
            generation = vault.begin(
                entry.id, provenance="slimmed" if self.slims else "original", immutable=base.immutable
            )
            begun.append(generation)
            self._seal(vault, known, generation.id, temporary)
            now = self.clock.now_ms()
            note_link(
                vault.journal,
                Link(generation.id, base.id, before, plan.size, self.kind, now, generation.begun_at),
            )

        note_temporary(self.home.root, temporary_name(opened.path))
        try:
            tail = opened.replace(snapshot, plan, seal)
        finally:
            forget_temporary(self.home.root)
        return Rewritten(plan, before, plan.size, tail, base.number, begun[0].number)

    # ── before and after ─────────────────────────────────────────────

    def _sealed(self, connection: apsw.Connection, snapshot: Snapshot) -> tuple[KnownFile, bool]:
        """Seal and map what was read; say whether the vault gives all of it back.

        A file that was edited before its end looks as if it had only grown: then it is taken in anew as a whole.
        """
        known = self._take_in(connection, self.find(), "grown")
        if not self._holds(known, snapshot):
            known = self._take_in(connection, self.find(), "rewritten")
            return known, self._holds(known, snapshot)
        return known, True

    def _holds(self, known: KnownFile, snapshot: Snapshot) -> bool:
        assert known.vault_generation is not None
        with Vault.open(self.home.vault, self.clock, read_only=True) as vault:
            return is_sealed(vault, known.vault_generation, snapshot.data)

    def _seal(self, vault: Vault, known: KnownFile, generation: int, path: str) -> None:
        """Seal a file as a generation, durably, as a scan would: what was forgotten on purpose stays forgotten."""
        file = self.find()
        reading = FileReading(
            file=file,
            known=replace(
                known, vault_generation=generation, read_to=0, state=None, waiting=0, accounting=Accounting()
            ),
            container=JsonLines(path),
            normaliser=self.source.normaliser(file, None),
            vault=vault,
            sealed_to=0,
            sieve=sieve_for(vault, known.path),
        )
        deque(reading.chunks(), maxlen=0)  # each chunk is sealed as it passes
        reading.finish()
        vault.commit()

    def _take_in(self, connection: apsw.Connection, file: SourceFile, change: Change) -> KnownFile:
        """Scan the one file. Raises ``ERR_STALE`` when it could not be read."""
        known = file_at(connection, file.path, file.generation)
        work = Work(file, known, "new" if known is None else change, self.source)
        found = Findings(ScanReport(files_seen=1), time.time_ns(), fresh=False, changed=[work])
        report = run_scan(
            connection=connection, vault_folder=self.home.vault, sources=[self.source], clock=self.clock, found=found
        )
        known = file_at(connection, file.path, file.generation)
        if known is None or known.vault_generation is None or known.error:
            reasons = "; ".join(reason for _, reason in report.problems) or "it could not be read"
            raise FabulaError("ERR_STALE", f"{file.path}: {reasons}", "fabula record scan")
        return known
