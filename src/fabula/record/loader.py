"""From rows to records: the bytes a row points at, checked, and what they say.

The file on disk is read where it still holds those bytes; else the vault gives them. Bytes are never served unchecked:
their digest is the sealed one's, or (in a record without a vault) they decode to the record that the row names.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, Literal

from fabula.kernel.errors import FabulaError
from fabula.kernel.hashes import digest
from fabula.kernel.ids import pack_id, unpack_id
from fabula.kernel.records import KINDS, ROLES, Record, SourceFile
from fabula.kernel.values import define
from fabula.record.map.files import KnownFile, file_by_id
from fabula.record.reading.sentinels import hide_across_blocks
from fabula.record.scan.changes import is_plain

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    import apsw

    from fabula.record.sources import Normaliser, Source
    from fabula.record.vault.vault import Vault

Origin = Literal["live", "vault"]

#: From this size on a value is read by the careful path, which outlines what is too large. One value at a time, the
#: standard library's decoder is as good, and its start costs a tenth.
_PLAIN_BYTES = 1 << 20
_SURROGATES = (b"\\ud", b"\\uD")  # escapes that may be half of a pair: only the careful path reads them

_ROW = "id,uid,session_id,thread_id,parent,source,file_id,offset,length,kind,role,time,flags"

_ROW_OF_R = ",".join(f"r.{name}" for name in _ROW.split(","))


@define
class Row:
    """A row of the map's ``records``, ids as text."""

    id: int
    uid: str
    session_id: int
    thread_id: int | None
    parent: str
    source: str
    file_id: int
    offset: int
    length: int
    kind: str
    role: str
    time: int | None
    flags: int


@define
class Loaded:
    """A record with the bytes it was read from and where they came from."""

    row: Row
    record: Record
    raw: bytes
    origin: Origin


def to_rows(connection: apsw.Connection, found: Sequence[Sequence[Any]]) -> list[Row]:
    """Build rows from the columns of ``records`` in the table's order; parents become uids."""
    names: dict[int, str] = {values[0]: unpack_id(values[1]) for values in found}
    missing = [values[4] for values in found if isinstance(values[4], int) and values[4] not in names]
    for at in range(0, len(missing), 500):
        part = missing[at : at + 500]
        marks = ",".join("?" * len(part))
        names.update((row, unpack_id(uid)) for row, uid in connection.execute(
            f"select id, uid from records where id in ({marks})", part))  # fmt: skip
    return [_to_row(values, names) for values in found]


def _to_row(values: Sequence[Any], names: Mapping[int, str]) -> Row:
    link = values[4]
    parent = "" if link is None else names.get(link, "") if isinstance(link, int) else unpack_id(link)
    source = parent if values[5] == 1 else "" if values[5] is None else unpack_id(values[5])
    role = ROLES[values[10]] if isinstance(values[10], int) else values[10]
    return Row(
        values[0], names[values[0]], values[2], values[3], parent, source,
        values[6], values[7], values[8], KINDS[values[9]], role, values[11], values[12],
    )  # fmt: skip


def by_host(sources: Sequence[Source]) -> dict[str, Source]:
    """Return the source that names the records of each host: the first of several (the others read odd folders)."""
    return {source.host: source for source in reversed(sources)}


class Loader:
    """Reads records through one map connection."""

    def __init__(self, connection: apsw.Connection, vault: Vault | None, sources: Mapping[str, Source]) -> None:
        self._connection = connection
        self._vault = vault
        self._sources = sources
        self._files: dict[int, KnownFile] = {}
        self._readers: dict[int, tuple[Callable[[bytes], Any], Normaliser]] = {}
        self._descriptors: dict[int, int | None] = {}

    # ── rows ─────────────────────────────────────────────────────────

    def rows(self, condition: str, parameters: Sequence[Any]) -> list[Row]:
        """Return the rows that satisfy an SQL condition, in the order of reading."""
        statement = f"select {_ROW} from records where {condition} order by id"
        return to_rows(self._connection, self._connection.execute(statement, tuple(parameters)).fetchall())

    def rows_of_thread(self, thread_id: int) -> list[Row]:
        """Return the rows of a thread in the order of reading."""
        return self.rows("thread_id=?", (thread_id,))

    def rows_of_passages(self, passages: Sequence[int]) -> dict[int, list[Row]]:
        """Return the rows of several passages, by passage, each in the order of reading."""
        statement = (
            f"select {_ROW_OF_R}, p.id from json_each(?) j cross join passages p on p.id = j.value"
            " cross join records r on r.id between p.first_record and p.last_record and +r.thread_id = p.thread_id"
            " order by r.id"
        )
        found: list[Any] = self._connection.execute(statement, (json.dumps(list(passages)),)).fetchall()
        rows: dict[int, list[Row]] = {passage: [] for passage in passages}
        for row, values in zip(to_rows(self._connection, found), found, strict=True):
            rows[values[-1]].append(row)
        return rows

    def openings(self, threads: Sequence[int], kinds: Sequence[str]) -> dict[int, Row]:
        """Return the first row of one of these kinds in each thread that has one, by thread."""
        numbers = ",".join(str(KINDS.index(kind)) for kind in kinds)
        statement = (
            f"select {_ROW_OF_R} from json_each(?) j cross join records r on r.id ="
            f" (select min(id) from records where thread_id = j.value and kind in ({numbers}))"
        )
        found = self._connection.execute(statement, (json.dumps(list(threads)),)).fetchall()
        rows = to_rows(self._connection, found)
        return {row.thread_id: row for row in rows if row.thread_id is not None}

    def row(self, uid: str) -> Row:
        """Return the row of a record by its id or a unique prefix. Raises ``ERR_NOT_FOUND``, ``ERR_AMBIGUOUS``."""
        found = self.rows("uid=?", (pack_id(uid),))
        if not found and len(uid) >= 4:
            found = self._by_prefix(uid)
        if not found:
            raise FabulaError("ERR_NOT_FOUND", f"no record has the id {uid}", "fabula record search WORDS")
        if len(found) > 1:
            some = ", ".join(row.uid for row in found[:3])
            raise FabulaError(
                "ERR_AMBIGUOUS", f"more than one record begins with {uid}: {some} …", "give more of the id"
            )
        return found[0]

    def _by_prefix(self, uid: str) -> list[Row]:
        low, high = _packed_range(uid)
        found = self.rows("uid>=? and uid<?", (low, high)) if low is not None else []
        return found or self.rows("uid>=? and uid<?", (uid, uid + "\U0010ffff"))

    # ── bytes ────────────────────────────────────────────────────────

    def raw(self, row: Row) -> tuple[bytes, Origin]:
        """Return a record's exact bytes. Raises ``ERR_STALE`` when no copy is left, ``ERR_VAULT_DAMAGED``."""
        known = self._file(row.file_id)
        return self.span(known, row.offset, row.length, row.uid)

    def span(self, known: KnownFile, offset: int, length: int, uid: str) -> tuple[bytes, Origin]:
        """Return the bytes of a span of a file, from disk or vault. Raises as :meth:`raw`."""
        sealed = None
        if self._vault is not None and known.vault_generation is not None:
            sealed = self._vault.digest(known.vault_generation, offset, length)
        live = self._live(known, offset, length)
        if live is not None and (digest(live) == sealed if sealed is not None else self._is(known, live, offset, uid)):
            return live, "live"
        if self._vault is not None and known.vault_generation is not None:
            return self._vault.read(known.vault_generation, offset, length), "vault"
        raise FabulaError(
            "ERR_STALE",
            f"{known.path} changed since it was indexed and holds other bytes at {offset}",
            "fabula record scan",
        )

    def _live(self, known: KnownFile, offset: int, length: int) -> bytes | None:
        if known.generation >= 0 and not known.path.endswith(".jsonl"):
            return None
        descriptor = self._descriptor(known)
        if descriptor is None:
            return None
        try:
            data = os.pread(descriptor, length, offset)
        except OSError:
            return None
        return data if len(data) == length else None

    def _descriptor(self, known: KnownFile) -> int | None:
        if known.id not in self._descriptors:
            self._descriptors[known.id] = None
            if is_plain(known.path):
                try:
                    self._descriptors[known.id] = os.open(known.path, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0))
                except OSError:
                    return None
        return self._descriptors[known.id]

    def _is(self, known: KnownFile, data: bytes, offset: int, uid: str) -> bool:
        record = self._normalise(known, data, offset)
        return record is not None and uid in {"", record.uid}  # "": any record will do

    def close(self) -> None:
        """Close the files that were read."""
        for descriptor in self._descriptors.values():
            if descriptor is not None:
                os.close(descriptor)
        self._descriptors.clear()

    # ── records ──────────────────────────────────────────────────────

    def load(self, rows: Iterable[Row]) -> list[Loaded]:
        """Read records, in the order given. Raises ``ERR_STALE``, ``ERR_VAULT_DAMAGED``."""
        loaded = []
        for row in rows:
            known = self._file(row.file_id)
            raw, record = self._sealed_live(known, row)
            origin: Origin = "live"
            if record is None:
                raw, origin = self.raw(row)
                record = self._normalise(known, raw, row.offset)
            if record is None:
                raise FabulaError(
                    "ERR_STALE", f"the bytes of record {row.uid} cannot be read any more", "fabula record rebuild"
                )
            loaded.append(Loaded(row, record, raw, origin))
        return loaded

    def _sealed_live(self, known: KnownFile, row: Row) -> tuple[bytes, Record | None]:
        """Read a record from the file that it was mapped from, where its bytes are sealed and name the row.

        That is as sure as the digest of the row's own span and costs one look-up: the span's digest lies in a manifest
        of up to two thousand. Rows of older generations are read by their manifest alone.
        """
        if self._vault is None or known.vault_generation is None or known.generation >= 0:
            return b"", None
        live = self._live(known, row.offset, row.length)
        if live is None or not self._vault.holds(digest(live)):
            return b"", None
        record = self._normalise(known, live, row.offset)
        return live, record if record is not None and record.uid == row.uid else None

    def read_as(self, row: Row, raw: bytes) -> Record | None:
        """Return what other bytes of a row's record say: those of a citation. ``None`` when they are no record."""
        return self._normalise(self._file(row.file_id), raw, row.offset)

    def sealed_digest(self, file_id: int, offset: int, length: int) -> bytes | None:
        """Return the digest of a mapped copy as it was sealed, without reading it; ``None`` when it was not."""
        statement = "select vault_generation from file_rows where id = ?"  # of the row alone: asked for every record
        generation = next((number for (number,) in self._connection.execute(statement, (file_id,))), None)
        if generation is None or self._vault is None:
            return None
        return self._vault.digest(generation, offset, length)

    def read_copy(self, file_id: int, offset: int, length: int) -> Record | None:
        """Return the record at a span of a mapped file, or ``None`` when its bytes cannot be had."""
        known = file_by_id(self._connection, file_id)
        if known is None:
            return None
        try:
            raw, _ = self.span(known, offset, length, "")
        except FabulaError:
            return None
        return self._normalise(known, raw, offset)

    def _normalise(self, known: KnownFile, data: bytes, offset: int) -> Record | None:
        source = self._sources.get(known.host)
        if source is None:
            return None
        reader = self._readers.get(known.id)
        if reader is None:
            file = self._source_file(known)
            decode = getattr(source.container(file), "decode", decode_json)  # containers of other things than JSON
            reader = self._readers[known.id] = decode, source.normaliser(file, known.state)
        decode, normaliser = reader
        try:
            value = decode(data)
        except ValueError:  # other bytes stand there now
            return None
        if not isinstance(value, dict):
            return None
        record = normaliser.normalise(value, offset, len(data))
        if isinstance(record, str):
            return None
        hide_across_blocks(record.blocks)
        return record

    def _source_file(self, known: KnownFile) -> SourceFile:
        session, parent = "", ""
        found = self._connection.execute(
            "select s.uid, p.uid from sessions s left join sessions p on p.id=s.parent_id where s.id=?",
            (known.session_id,),
        ).fetchone()
        if found is not None:
            session = unpack_id(found[0])
            parent = unpack_id(found[1]) if found[1] is not None else ""
        return SourceFile(
            known.host, known.path, known.kind, session, known.size, known.mtime_ns, known.ctime_ns, known.inode,
            parent, known.immutable, known.provenance, known.generation,
        )  # fmt: skip

    def _file(self, file_id: int) -> KnownFile:
        known = self._files.get(file_id)
        if known is None:
            known = file_by_id(self._connection, file_id)
            if known is None:
                raise FabulaError(
                    "ERR_DATABASE", f"the map names a file that it does not hold ({file_id})", "fabula record rebuild"
                )
            self._files[file_id] = known
        return known


def decode_json(raw: bytes) -> Any:
    """Decode the bytes of one value. Raises ``ValueError`` when they are not one JSON value."""
    if len(raw) < _PLAIN_BYTES and (b"\\u" not in raw or not any(half in raw for half in _SURROGATES)):
        try:
            return json.loads(raw.decode())
        except (ValueError, RecursionError):
            pass  # damage, or something that only the careful path reads
    from fabula.record.containers.json_scan import decode_value

    return decode_value(raw)


def _packed_range(prefix: str) -> tuple[bytes | None, bytes]:
    """Return the range of packed uuids that begin with a text prefix; (None, …) when it is no part of a uuid."""
    digits = prefix.replace("-", "").lower()
    if len(digits) > 32 or not digits or any(c not in "0123456789abcdef" for c in digits):
        return None, b""
    low = bytes.fromhex(digits.ljust(32, "0"))
    high = int(digits.ljust(32, "f"), 16) + 1
    return low, high.to_bytes(17, "big")[-16:] if high < 1 << 128 else b"\xff" * 17
