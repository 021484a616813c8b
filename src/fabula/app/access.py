"""The record's parts, put together: sources, vault, map, loader, and the scan that brings them up to date."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from fabula.kernel.errors import FabulaError
from fabula.kernel.values import define, field

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import apsw

    from fabula.kernel.clock import Clock
    from fabula.kernel.paths import Home
    from fabula.record.loader import Loader
    from fabula.record.map.files import KnownStats
    from fabula.record.scan.finding import Findings, Settled
    from fabula.record.scan.report import Progress, ScanReport
    from fabula.record.scan.sealing import SealReport
    from fabula.record.sources import Source
    from fabula.record.vault.values import VaultStats
    from fabula.record.vault.vault import Vault

REFRESH_BYTES = 64 * 1024 * 1024  # a read takes in at most this much before it answers
SCAN_WAIT_SECONDS = 60.0
REFRESH_WAIT_SECONDS = 0.2
#: What does not keep a read from answering with what there is; a damaged map is refused when it is read itself.
_READ_ON = frozenset(("ERR_LOCKED", "ERR_READ_ONLY", "ERR_DISK"))
_VAULT_DAMAGE = frozenset(("ERR_DATABASE", "ERR_VAULT_DAMAGED", "ERR_VAULT_FORMAT"))


@define
class Freshness:
    """What a read knows about how current its answer is."""

    fresh: bool  # everything that the sources hold was taken in
    read_files: int = 0
    pending_files: int = 0
    note: str = ""  # why it is not fresh
    problems: list[tuple[str, str]] = field(default_factory=list)


class RecordAccess:
    """One process's way to the record. ``sources`` builds the sources when they are first needed."""

    def __init__(self, home: Home, clock: Clock, sources: Callable[[], Sequence[Source]]) -> None:
        self._home = home
        self._clock = clock
        self._make_sources = sources
        self._reader: apsw.Connection | None = None
        self._reader_identity: tuple[int, int] | None = None
        self._loader: Loader | None = None
        self._known: KnownStats | None = None  # stats of the map's files, as of ``_known_at``
        self._known_at: tuple[int, int] | None = None
        self._settled: Settled | None = None
        self._sealed_in: tuple[int, int] | None = None  # the journal with which our last scan brought the map in step

    @cached_property
    def sources(self) -> list[Source]:
        """Every source that is configured."""
        return list(self._make_sources())

    @cached_property
    def vault(self) -> Vault | None:
        """The vault for reading; ``None`` when nothing was sealed yet, or when it is damaged: sources still serve."""
        from fabula.record.vault.vault import Vault

        if not (self._home.vault / "journal.db").exists():
            return None
        try:
            return Vault.open(self._home.vault, self._clock, read_only=True)
        except FabulaError as error:
            if error.code not in _VAULT_DAMAGE:
                raise
            return None

    def reader(self) -> apsw.Connection:
        """Return the map for reading; a rebuilt map is noticed. Raises ``ERR_NO_RECORD``, ``ERR_DATABASE``."""
        from fabula.record.map.store import identity, read_map

        now = identity(self._home.map)
        if self._reader is None or now != self._reader_identity:
            self.close()
            self._reader = read_map(self._home.map)
            self._reader_identity = now
        return self._reader

    def loader(self) -> Loader:
        """Return the loader on the map as it is now. Raises as :meth:`reader`."""
        from fabula.record.loader import Loader, by_host

        reader = self.reader()
        if self._loader is None:
            self._loader = Loader(reader, self.vault, by_host(self.sources))
        return self._loader

    def close(self) -> None:
        """Give back what reading holds open."""
        if self._loader is not None:
            self._loader.close()
            self._loader = None
        if self._reader is not None:
            self._reader.close()
            self._reader = None
            self._known_at = None  # the next connection may have the address of this one
        # the next reader opens the vault that is there then; who holds the present one goes on with it
        self.__dict__.pop("vault", None)

    # ── taking in what is new ────────────────────────────────────────

    def scan(
        self,
        *,
        extra: Sequence[Source] = (),
        seal: bool = True,
        rebuild: bool = False,
        byte_budget: int | None = None,
        wait_seconds: float = SCAN_WAIT_SECONDS,
        progress: Progress | None = None,
        found: Findings | None = None,
    ) -> ScanReport:
        """Scan every source under the writer lock.

        ``found`` is what a look just saw; it counts while the map is as it was then.
        Raises ``ERR_LOCKED``, ``ERR_DISK``, ``ERR_READ_ONLY``, ``ERR_DATABASE``.
        """
        from fabula.record.map.store import identity, mended_by_rebuild, remove_map
        from fabula.record.rewriting.leftovers import clear_leftovers
        from fabula.record.scan.run import run_scan
        from fabula.storage.database import database_errors
        from fabula.storage.files import ensure_folder
        from fabula.storage.keyring import cipher_for_new
        from fabula.storage.locks import FileLock

        self.require_own_home()
        ensure_folder(self._home.root)
        with FileLock(self._home.lock, wait_seconds):
            clear_leftovers(self._home.root)
            if rebuild:
                cipher_for_new(self._home.vault)  # raises ERR_KEY before anything is removed
                self.close()
                remove_map(self._home.map)
            connection, found = self._map_of_this_vault(found, seal=seal)
            try:
                with mended_by_rebuild(), database_errors(self._home.map):
                    report = run_scan(
                        connection=connection,
                        vault_folder=self._home.vault if seal else None,
                        sources=[*self.sources, *extra],
                        clock=self._clock,
                        byte_budget=byte_budget,
                        progress=progress,
                        found=found,
                    )
                    if found is not None:
                        self._remember(connection, found)
                    self._sealed_in = identity(self._home.vault / "journal.db") if seal else None
                    return report
            finally:
                connection.close()

    def _map_of_this_vault(self, found: Findings | None, *, seal: bool) -> tuple[apsw.Connection, Findings | None]:
        """Open the map for writing, anew where it belongs to another vault; return what still holds of a look.

        The writer lock is held.
        """
        from fabula.record.map.store import identity, open_map, remove_map
        from fabula.record.scan.owner import belongs_elsewhere

        connection = open_map(self._home.map)
        if found is not None and self._map_version() != self._known_at:
            found = None  # another process has written since
        was_ours = found is not None and self._sealed_in == identity(self._home.vault / "journal.db")
        if not seal or was_ours or not belongs_elsewhere(connection, self._home.vault):
            return connection, found
        connection.close()  # its records point into another vault, or into none
        self.close()
        remove_map(self._home.map)
        return open_map(self._home.map), None

    def seal(self, *, extra: Sequence[Source] = (), progress: Progress | None = None) -> tuple[SealReport, VaultStats]:
        """Seal every source without mapping it. Raises as :meth:`scan`."""
        from fabula.record.scan.sealing import seal_sources
        from fabula.record.vault.vault import Vault
        from fabula.storage.files import ensure_folder
        from fabula.storage.locks import FileLock

        self.require_own_home()
        ensure_folder(self._home.root)
        with FileLock(self._home.lock, SCAN_WAIT_SECONDS), Vault.open(self._home.vault, self._clock) as vault:
            return seal_sources(vault, [*self.sources, *extra], progress), vault.stats()

    def require_own_home(self) -> None:
        """Refuse to write to a copy: the next copy could not go on from it."""
        if self._home.copy_marker.exists():
            from shlex import quote

            raise FabulaError(
                "ERR_READ_ONLY",
                f"{self._home.root} is a copy of a vault: it can be verified and restored from",
                f"rm {quote(str(self._home.copy_marker))}  # from then on it is a home of its own",
            )

    def retitle(self, uid: str, title: str) -> None:
        """Let searches find a session by the title that its person gave. Raises as :meth:`scan`."""
        from fabula.record.map.store import open_map
        from fabula.record.map.titles import retitle
        from fabula.storage.locks import FileLock

        with FileLock(self._home.lock, SCAN_WAIT_SECONDS):
            connection = open_map(self._home.map)
            try:
                with connection:
                    retitle(connection, {uid: title})
            finally:
                connection.close()

    def refresh(self) -> Freshness:
        """Take in what is new before a read, bounded; where that is not possible say why and read on."""
        found = self._look()
        if found is not None and found.nothing:
            return Freshness(fresh=True, problems=found.report.problems)
        try:
            report = self.scan(byte_budget=REFRESH_BYTES, wait_seconds=REFRESH_WAIT_SECONDS, found=found)
        except FabulaError as error:
            if error.code not in _READ_ON | _VAULT_DAMAGE or not self._home.map.exists():
                raise
            advice = f" ({error.suggestions[0]})" if error.suggestions else ""
            return Freshness(fresh=False, note=error.message + advice)
        note = f"{report.pending_files} files are still to be read" if report.pending_files else ""
        return Freshness(
            fresh=report.complete,
            read_files=report.files_read,
            pending_files=report.pending_files,
            note=note,
            problems=report.problems,
        )

    def _map_version(self) -> tuple[int, int]:
        """Return what changes whenever another connection writes the map, or the map is replaced."""
        reader = self.reader()
        return id(reader), int(reader.pragma("data_version") or 0)

    def _remember(self, connection: apsw.Connection, found: Findings) -> None:
        """Bring the stats of the map's files up to date after a scan of our own: the lock is still held."""
        from fabula.record.map.files import stat_of

        if found.gone or found.fresh or self._known is None:
            return  # they are loaded anew at the next look
        for work in found.changed:
            path, generation = work.file.path, work.file.generation
            stat = stat_of(connection, path, generation)
            if stat is not None:
                self._known.put(path, generation, stat)
        self._known_at = self._map_version()

    def _look(self) -> Findings | None:
        """Look with the reader alone: most reads find nothing new and need neither lock nor writer.

        ``None`` when there is no map yet, or one that only a writer can mend.
        """
        from fabula.record.map.files import all_stats
        from fabula.record.scan.finding import Settled, find_changes

        try:
            reader = self.reader()
        except FabulaError:
            return None
        if not (self._home.vault / "journal.db").exists():
            return None
        version = self._map_version()
        if version != self._known_at:
            self._known, self._known_at, self._settled = all_stats(reader), version, Settled()
        return find_changes(reader, self.sources, self._known, self._settled)
