"""The vault's journal: reads of its tables, and the one transaction that is the vault's commit point."""

from __future__ import annotations

from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import apsw

from fabula.kernel.errors import FabulaError
from fabula.kernel.values import define, field, frozen
from fabula.record.vault.changes import DROP, KEEP, PUT, Change, apply
from fabula.record.vault.folder import JOURNAL, PACKS, copies_on_disk, require_journal
from fabula.record.vault.journal_shared import SharedRow, unknown
from fabula.record.vault.marks import mark, shown_path, stored_path
from fabula.record.vault.schema import ADDED, APPLICATION_ID, READ_AS, SCHEMA, VERSION
from fabula.record.vault.values import Generation, SourceEntry
from fabula.storage.database import database_errors, open_database, open_reader

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from fabula.kernel.records import Provenance

REPAIR = "fabula record verify --repair"
OWNER_BYTES, KEY_BYTES = 16, 32
_BATCH = 500  # digests asked for in one query

_SOURCE = "select id, host, path, kind, session, first_seen, last_seen, size, vanished_at, parent from sources"
_GENERATION = (
    "select id, source_id, number, provenance, immutable, length, tail_digest, length(tail), begun_at, sealed_at"
    " from generations"
)
_PLACE = (
    "select b.digest, b.frame_id, b.start, f.pack_id, p.class, f.offset, f.length"
    " from blobs b join frames f on f.id = b.frame_id join packs p on p.id = f.pack_id"
)


@frozen
class Place:
    """Where a record lies: its frame, and where it begins in the frame's content."""

    digest: bytes
    frame_id: int
    start: int
    pack_id: int
    pack_class: int
    offset: int
    length: int


@define
class GenerationRow:
    """A generation as the writer sees it, tail included."""

    id: int
    source_id: int
    number: int
    provenance: Provenance
    immutable: int
    length: int
    tail_digest: bytes | None
    tail: bytes
    begun_at: int
    sealed_at: int

    def value(self) -> Generation:
        """Return what callers see."""
        return Generation(
            self.id, self.source_id, self.number, self.provenance, bool(self.immutable), self.length,
            self.tail_digest, len(self.tail), self.begun_at, self.sealed_at,
        )  # fmt: skip


@define
class Batch:
    """What one commit writes. Rows are in the order of their table's columns, without marks."""

    sources: dict[int, SourceEntry] = field(default_factory=dict)
    generations: dict[int, GenerationRow] = field(default_factory=dict)
    segments: list[tuple[int, int, int, bytes, bytes]] = field(default_factory=list)
    shared: dict[bytes, SharedRow] = field(default_factory=dict)  # parts of manifests, by their names
    packs: dict[int, tuple[int, int, int, int]] = field(default_factory=dict)
    frames: list[tuple[int, int, int, int, int, int, int]] = field(default_factory=list)
    blobs: list[tuple[bytes, int, int]] = field(default_factory=list)
    loose: list[tuple[bytes, int, bytes]] = field(default_factory=list)
    packed: list[bytes] = field(default_factory=list)  # digests that are no longer loose

    def clear(self) -> None:
        """Empty it, after it was written."""
        for part in (self.sources, self.generations, self.segments, self.packs, self.frames, self.blobs, self.loose):
            part.clear()
        self.packed.clear()
        self.shared.clear()

    def changes(self) -> list[Change]:
        """Return what it changes of the rows of truth."""
        found: tuple[Change, ...] = (
            (DROP, "loose", [(digest,) for digest in self.packed]),
            (PUT, "loose", self.loose),
            (PUT, "sources", [marked(_source_row(entry)) for entry in self.sources.values()]),
            (PUT, "generations", [marked(_generation_row(row)) for row in self.generations.values()]),
            (KEEP, "shared", [marked(row) for row in self.shared.values()]),
            (PUT, "segments", [marked(row) for row in self.segments]),
        )
        return [change for change in found if change[2]]

    def __bool__(self) -> bool:
        """Say whether there is anything to write."""
        return bool(
            self.sources or self.generations or self.segments or self.packs or self.blobs or self.loose or self.packed
        )


@contextmanager
def journal_errors(path: Path) -> Iterator[None]:
    """Translate SQLite's refusals; a journal that misses a table, or holds broken text, is damaged too."""
    try:
        with database_errors(path):
            yield
    except (apsw.SQLError, UnicodeDecodeError) as error:
        raise FabulaError("ERR_DATABASE", f"{path} is damaged: {error}", REPAIR) from error


class Journal:
    """``journal.db``, open for reading or for writing."""

    def __init__(self, connection: apsw.Connection, path: Path) -> None:
        self.connection = connection
        self.path = path

    @classmethod
    def open(cls, folder: Path, *, read_only: bool) -> Journal:
        """Open the journal of the vault in ``folder``; writing creates it.

        Raises ``ERR_NO_RECORD``; ``ERR_VAULT_DAMAGED`` where packs lie without a journal to be read;
        ``ERR_VAULT_FORMAT``, ``ERR_DATABASE``, ``ERR_READ_ONLY``, ``ERR_DISK``.
        """
        path = folder / JOURNAL
        if read_only:
            require_journal(folder)
        try:
            if read_only:
                connection = open_reader(path, version=VERSION, application=APPLICATION_ID)
                added = READ_AS
            else:
                connection = open_database(
                    path, schema=SCHEMA + ADDED, version=VERSION, application=APPLICATION_ID, durable=True
                )
                added = ADDED
            with database_errors(path):
                if connection.execute("select 1 from sqlite_schema where name='manifests'").fetchone() is None:
                    connection.execute(f"begin; {added}; commit")
            return cls(connection, path)
        except FabulaError as error:
            if error.code != "ERR_DATABASE":
                raise
            if "damaged" in error.message:
                raise FabulaError("ERR_DATABASE", error.message, REPAIR) from error
            raise FabulaError("ERR_VAULT_FORMAT", error.message) from error

    def close(self) -> None:
        """Close the database. A full disk does not matter here: what closing would merge stays in the log."""
        with suppress(apsw.FullError, apsw.IOError):
            self.connection.close()

    # -- reading -------------------------------------------------------------------------------------------------

    def rows(self, query: str, bindings: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Return all rows of a query. Raises ``ERR_DATABASE`` when the file is damaged."""
        with journal_errors(self.path):
            return self.connection.execute(query, bindings).fetchall()

    def each(self, query: str, bindings: Sequence[Any] = ()) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of a query. Raises ``ERR_DATABASE`` when the file is damaged."""
        with journal_errors(self.path):
            yield from self.connection.execute(query, bindings)

    def columns(self, table: str) -> list[str]:
        """Return the names of a table's columns. Raises ``ERR_DATABASE`` when there is no such table."""
        names = [row[0] for row in self.rows("select name from pragma_table_info(?)", (table,))]
        if not names:
            raise FabulaError("ERR_DATABASE", f"{self.path} is damaged: no table {table}", REPAIR)
        return names

    def meta(self, key: str) -> bytes | None:
        """Return one of the vault's own values."""
        rows = self.rows("select value from meta where key=?", (key,))
        return rows[0][0] if rows else None

    def data_version(self) -> int:
        """Return a number that changes when another connection commits."""
        return int(self.rows("pragma data_version")[0][0])

    def last_id(self, table: str) -> int:
        """Return the highest id of a table, 0 when it is empty."""
        return int(self.rows(f"select coalesce(max(id), 0) from {table}")[0][0])

    def sources(self, where: str = "", bindings: Sequence[Any] = ()) -> list[SourceEntry]:
        """Return ledger entries with their generations; ``where`` is a clause over the table's columns."""
        found = self.rows(f"{_SOURCE} {where}", bindings)
        return [_source(row, self.generations(row[0])) for row in found]

    def source_at(self, host: str, path: str) -> SourceEntry | None:
        """Return the ledger's entry for a path."""
        found = self.sources("where host=? and path=?", (host, stored_path(path)))
        return found[0] if found else None

    def generations(self, source_id: int) -> tuple[Generation, ...]:
        """Return the generations of a source in the order they began."""
        found = self.rows(f"{_GENERATION} where source_id=? order by id", (source_id,))
        return tuple(_generation(*row) for row in found)

    def generation(self, generation_id: int) -> GenerationRow | None:
        """Return a generation with its tail."""
        found = self.rows(
            "select id, source_id, number, provenance, immutable, length, tail_digest, tail, begun_at, sealed_at"
            " from generations where id=?",
            (generation_id,),
        )
        return GenerationRow(*found[0]) if found else None

    def extent(self, generation_id: int) -> tuple[int, int] | None:
        """Return a generation's sealed length and the length of its tail."""
        found = self.rows("select length, length(tail) from generations where id=?", (generation_id,))
        return found[0] if found else None

    def segment_before(self, generation_id: int, offset: int) -> tuple[int, int, bytes, bytes] | None:
        """Return the segment (offset, length, layout, digests) that holds the byte at ``offset``."""
        found = self.rows(
            "select offset, length, layout, digests from manifests"
            " where generation_id=? and offset<=? order by offset desc limit 1",
            (generation_id, offset),
        )
        return found[0] if found else None

    def places(self, digests: Sequence[bytes]) -> dict[bytes, Place]:
        """Return where packed records lie; what is loose or unknown is missing from the answer."""
        found: dict[bytes, Place] = {}
        for start in range(0, len(digests), _BATCH):
            part = digests[start : start + _BATCH]
            for row in self.rows(f"{_PLACE} where b.digest in ({','.join('?' * len(part))})", part):
                found[row[0]] = Place(*row)
        return found

    def known(self, digests: Sequence[bytes]) -> set[bytes]:
        """Return those of the digests whose records are in packs."""
        found: set[bytes] = set()
        for start in range(0, len(digests), _BATCH):
            part = digests[start : start + _BATCH]
            query = f"select digest from blobs where digest in ({','.join('?' * len(part))})"
            found.update(row[0] for row in self.rows(query, part))
        return found

    def holds(self, digest: bytes) -> bool:
        """Say whether a record of this digest lies in a pack or still loose."""
        return bool(
            self.rows("select 1 from blobs where digest=?1 union all select 1 from loose where digest=?1", (digest,))
        )

    def loose(self, digest: bytes) -> bytes | None:
        """Return a record that does not lie in a pack yet."""
        found = self.rows("select data from loose where digest=?", (digest,))
        return found[0][0] if found else None

    # -- writing -------------------------------------------------------------------------------------------------

    def commit(self, batch: Batch) -> None:
        """Write a batch in one durable transaction: the vault's commit point. Raises ``ERR_DISK``, ``ERR_LOCKED``."""
        try:
            with journal_errors(self.path), self.connection as db:
                many = db.executemany
                many("insert or replace into packs values(?,?,?,?)", batch.packs.values())
                many("insert into frames values(?,?,?,?,?,?,?)", batch.frames)
                many("insert or replace into blobs values(?,?,?)", sorted(batch.blobs))
                batch.shared = {row[0]: row for row in unknown(db, list(batch.shared.values()))}
                self._write(batch.changes())
        except BaseException:
            with suppress(FabulaError):
                self.cut_copy()
            raise

    def put(self, table: str, rows: Iterable[tuple[Any, ...]]) -> None:
        """Write rows of truth (without marks), replacing those of the same keys. Durable. Raises ``ERR_DISK``."""
        self._change((PUT, table, [marked(row) for row in rows]))

    def keep(self, table: str, rows: Iterable[tuple[Any, ...]]) -> int:
        """Write rows of truth (without marks) whose keys are new; return how many were. Durable."""
        return self._change((KEEP, table, [marked(row) for row in rows]))

    def drop(self, table: str, keys: Sequence[tuple[Any, ...]]) -> int:
        """Remove rows of truth by their keys; return how many there were. Durable. Raises ``ERR_DISK``."""
        return self._change((DROP, table, keys))

    def _change(self, change: Change) -> int:
        changed = 0
        with journal_errors(self.path), self.connection:
            changed += self._write([change])
        return changed

    def _write(self, changes: Sequence[Change]) -> int:
        """Write changes of truth inside a transaction, also into the journal's copy; return how many rows changed."""
        before = self.connection.total_changes()
        apply(self.connection, changes)
        changed = self.connection.total_changes() - before
        if changed:
            from fabula.record.vault import journal_copy

            journal_copy.record(self.connection, self.path.parent, changes)
        return changed

    def cut_copy(self) -> None:
        """Cut from the journal's copy what was never committed. Raises ``ERR_DISK``, ``ERR_LOCKED``."""
        from fabula.record.vault import journal_copy

        with journal_errors(self.path):
            if not journal_copy.is_too_long(self.connection, self.path.parent):
                return
            self.connection.execute("begin immediate")  # else it may be what another process is about to commit
            try:
                journal_copy.cut(self.connection, self.path.parent)
            finally:
                self.connection.execute("rollback")

    def identity(self) -> tuple[bytes, bytes]:
        """Return the vault's own 16 bytes, that all its packs carry, and the key of its tombstones; made at first."""
        if self.meta("owner") is None or self.meta("tombstone_key") is None:
            import secrets

            fresh = {"owner": secrets.token_bytes(OWNER_BYTES), "tombstone_key": secrets.token_bytes(KEY_BYTES)}
            self.keep("meta", fresh.items())
        return self.meta("owner") or b"", self.meta("tombstone_key") or b""

    def change(self, statement: str, rows: Iterable[Sequence[Any]]) -> int:
        """Run a statement for each row in one durable transaction; return how many changed. Raises ``ERR_DISK``.

        For what :meth:`put`, :meth:`keep` and :meth:`drop` cannot do: the journal's copy is made anew with the next
        change, and until then there is none.
        """
        from fabula.record.vault.journal_copy import forget

        with journal_errors(self.path), self.connection:
            changed = self.change_index(statement, rows)
            if changed:
                forget(self.connection)
        return changed

    def change_index(self, statement: str, rows: Iterable[Sequence[Any]]) -> int:
        """As :meth:`change`, for the index of records, which the journal's copy does not repeat."""
        db = self.connection
        before = db.total_changes()
        with journal_errors(self.path), db:
            db.executemany(statement, rows)
        return db.total_changes() - before

    def bytes_on_disk(self) -> int:
        """Bytes of the database, its write-ahead log and its copy."""
        folder = self.path.parent
        copies = [folder / PACKS / name for name in copies_on_disk(folder).values()]
        files = (self.path, self.path.with_name(self.path.name + "-wal"), *copies)
        return sum(file.stat().st_size for file in files if file.exists())


def marked(row: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return a row with its checksum at the end."""
    return (*row, mark(*row))


def _source(row: tuple[Any, ...], generations: tuple[Generation, ...]) -> SourceEntry:
    number, host, path, kind, session, first_seen, last_seen, size, vanished_at, parent = row
    shown = shown_path(path)
    return SourceEntry(
        number, host, shown, kind, session, first_seen, last_seen, size, vanished_at, parent, generations
    )


def _generation(
    number: int, source_id: int, order: int, provenance: Provenance, immutable: int, *rest: Any
) -> Generation:
    return Generation(number, source_id, order, provenance, bool(immutable), *rest)


def _source_row(entry: SourceEntry) -> tuple[Any, ...]:
    return (
        entry.id, entry.host, stored_path(entry.path), entry.kind, entry.session, entry.first_seen, entry.last_seen,
        entry.size, entry.vanished_at, entry.parent,
    )  # fmt: skip


def _generation_row(row: GenerationRow) -> tuple[Any, ...]:
    return (
        row.id, row.source_id, row.number, row.provenance, row.immutable, row.length, row.tail_digest, row.tail,
        row.begun_at, row.sealed_at,
    )  # fmt: skip
