"""Verifying: every byte of packs and journal is read and compared with what was written down about it."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, Any

import apsw

from fabula.kernel.errors import FabulaError
from fabula.kernel.hashes import digest_text
from fabula.record.vault import manifest
from fabula.record.vault.folder import JOURNAL, PACKS, pack_name, packs_on_disk
from fabula.record.vault.journal import journal_errors
from fabula.record.vault.journal_replay import differences
from fabula.record.vault.marks import mark, shown_path
from fabula.record.vault.schema import ADDED, CLOSED, ENDED, OPEN, SCHEMA, TRUTH_TABLES
from fabula.record.vault.values import Damage, Touched
from fabula.storage.packs import PackReader
from fabula.storage.packs_format import HEADER_BYTES, FramePlace

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from fabula.record.vault.journal import Journal

_MANY = 20  # complaints of SQLite that are shown
Finding = tuple[str, int | None, str, list[bytes]]  # place, offset, problem, digests that cannot be trusted


def verify(folder: Path, journal: Journal) -> Iterator[Damage]:
    """Yield what is not as it was written, and what each damage hits. Reads one state, also while another grows it."""
    try:
        names = packs_on_disk(folder)  # before the state of the journal: a pack that is begun is named there first
        with journal_errors(journal.path), journal.connection:
            findings = [
                finding
                for check in (
                    _journal(journal),
                    _copy(folder, journal),
                    _strangers(journal, names),
                    _packs(folder, journal),
                    _loose(journal),
                    _manifests(journal),
                )
                for finding in _guarded(check)
            ]
            hit = _touched(journal, {digest for _, _, _, digests in findings for digest in digests})
    except FabulaError as error:
        yield Damage(JOURNAL, None, error.message)
        return
    for place, offset, problem, digests in findings:
        touched = tuple(sorted((t for d in digests for t in hit.get(d, ())), key=_order))
        yield Damage(place, offset, problem, tuple(map(digest_text, digests)), touched)


def _guarded(check: Iterator[Finding]) -> Iterator[Finding]:
    """Let a check that meets a value of a wrong kind find that, and not end the others."""
    try:
        yield from check
    except FabulaError as error:
        yield JOURNAL, None, error.message, []
    except (TypeError, ValueError, OverflowError) as error:
        yield JOURNAL, None, f"a value of a wrong kind: {error}", []


def _order(touched: Touched) -> tuple[str, int, int]:
    return touched.path, touched.generation, touched.offset


def _journal(journal: Journal) -> Iterator[Finding]:
    """Check the database's structure, and the mark of every row that has one."""
    for (complaint,) in journal.rows(f"pragma integrity_check({_MANY})"):
        if complaint != "ok":
            yield JOURNAL, None, str(complaint), []
    found = _schema(journal.connection)
    if found != _schema(_as_made(SCHEMA + ADDED)) and found != _schema(_as_made(SCHEMA)):
        yield JOURNAL, None, "its tables are not as they were made", []
    for table in TRUTH_TABLES:
        if table == "shared" and not any(row[1] == table for row in found):
            continue  # a vault of before
        marked = journal.columns(table)[-1] == "mark"
        for row in journal.each(f"select * from {table}") if marked else ():
            if mark(*row[:-1]) != row[-1]:
                named = shown_path(row[2]) if table == "sources" else str(row[:2])
                yield f"{JOURNAL}: {table}", None, f"the row {named} does not match its checksum", []


def _copy(folder: Path, journal: Journal) -> Iterator[Finding]:
    """Check that the journal's copy says what the journal says."""
    for name, problem in differences(journal.connection, folder):
        yield name, None, problem, []


def _as_made(schema: str) -> apsw.Connection:
    connection = apsw.Connection(":memory:")
    connection.execute(schema)
    return connection


def _schema(connection: apsw.Connection) -> list[tuple[Any, ...]]:
    return connection.execute("select type, name, tbl_name, sql from sqlite_schema order by 1, 2").fetchall()


def _strangers(journal: Journal, names: dict[int, str]) -> Iterator[Finding]:
    known = {row[0] for row in journal.rows("select id from packs")}
    for pack_id, name in names.items():
        if pack_id not in known:
            yield name, None, "the journal does not know this pack", []


def _packs(folder: Path, journal: Journal) -> Iterator[Finding]:
    for pack_id, pack_class, length, closed in journal.rows(
        "select id, class, length, closed from packs where length order by id"
    ):
        name = pack_name(pack_id, pack_class)
        try:
            pack = PackReader(folder / PACKS / name)
        except OSError as error:
            yield name, None, error.strerror or str(error), _digests(journal, "f.pack_id", pack_id)
            continue
        try:
            rows = journal.rows(
                "select id, offset, length, records, crc from frames where pack_id=? order by offset", (pack_id,)
            )
            frames = [(frame_id, FramePlace(*place)) for frame_id, *place in rows]
            for problem in _ends(pack, journal, length, [place for _, place in frames], closed=closed):
                yield name, None, problem, []
            for frame_id, place in frames:
                yield from _frame(pack, journal, name, frame_id, place)
        finally:
            pack.close()
    strays = journal.rows("select count(*) from blobs where frame_id not in (select id from frames)")[0][0]
    if strays:
        yield f"{JOURNAL}: blobs", None, f"{strays} records are said to lie in frames that do not exist", []


def _ends(pack: PackReader, journal: Journal, length: int, places: list[FramePlace], *, closed: int) -> Iterator[str]:
    """Check what is around the frames: header, footer, and that nothing lies between (but in a pack read back)."""
    end = HEADER_BYTES
    for place in places:
        if place.offset != end and closed != ENDED:
            yield f"nothing is known of the bytes from {end} to {place.offset}"
        end = place.offset + place.length
    try:
        if pack.header()[1] != journal.meta("owner"):
            yield "the pack belongs to another vault"
        if closed == CLOSED and pack.footer(length) != places:
            yield "the footer names other frames than the journal"
    except ValueError as error:
        yield str(error)
    if closed == OPEN and end != length:
        yield f"the frames end at {end}, the journal says {length}"


def _frame(pack: PackReader, journal: Journal, name: str, frame_id: int, place: FramePlace) -> Iterator[Finding]:
    try:
        frame = pack.frame(place.offset, place.length)
    except (ValueError, OSError) as error:
        yield name, place.offset, str(error), _digests(journal, "b.frame_id", frame_id)
        return
    content = memoryview(frame.content)
    known = journal.places([digest for digest, _ in frame.table])
    start, wrong, lost = 0, [], []
    for digest, length in frame.table:
        if sha256(content[start : start + length]).digest() != digest:
            wrong.append(digest)
        at = known.get(digest)
        if at is None or (at.frame_id, at.start) != (frame_id, start):
            lost.append(digest)
        start += length
    if wrong:
        yield name, place.offset, "records do not match their digests", wrong
    if lost:
        yield f"{JOURNAL}: blobs", place.offset, f"records of {name} are not found where they lie", lost


def _digests(journal: Journal, column: str, number: int) -> list[bytes]:
    query = f"select b.digest from blobs b join frames f on f.id = b.frame_id where {column}=? order by 1"
    return [row[0] for row in journal.rows(query, (number,))]


def _loose(journal: Journal) -> Iterator[Finding]:
    for digest, data in journal.each("select digest, data from loose"):
        if sha256(data).digest() != digest:
            yield f"{JOURNAL}: loose", None, "a record does not match its digest", [digest]


def lost_records(journal: Journal) -> dict[bytes, list[Touched]]:
    """Return the records that manifests name and the vault does not hold, with the spans they made up."""
    known = _held(journal)
    lost = {
        piece.value
        for _, segment in _segments(journal)
        for piece in (segment.pieces() if isinstance(segment, manifest.Segment) else ())
        if piece.kind in manifest.IN_PACK and piece.value not in known
    }
    return _touched(journal, lost)


def _held(journal: Journal) -> set[bytes]:
    held = {row[0] for row in journal.each("select digest from blobs")}
    held.update(row[0] for row in journal.each("select digest from loose"))
    return held


def _manifests(journal: Journal) -> Iterator[Finding]:
    """Check that every generation is described from its first byte to its last, by records that exist."""
    known = _held(journal)
    ends: dict[int, int] = {}
    for generation_id, segment in _segments(journal):
        place = f"{JOURNAL}: segments of generation {generation_id}"
        if isinstance(segment, str):
            yield place, None, segment, []
            continue
        if segment.offset != ends.get(generation_id, 0):
            yield place, None, f"the manifest jumps to byte {segment.offset}", []
        ends[generation_id] = segment.offset + segment.length
        missing = [p.value for p in segment.pieces() if p.kind in manifest.IN_PACK and p.value not in known]
        if missing:
            yield place, None, "the vault has lost records that are part of it", missing
    for generation_id, length in journal.rows("select id, length from generations"):
        if ends.get(generation_id, 0) != length:
            yield f"{JOURNAL}: generation {generation_id}", None, f"its manifest does not end at byte {length}", []


def _segments(journal: Journal) -> Iterator[tuple[int, manifest.Segment | str]]:
    """Yield (generation id, segment, or what is wrong with it)."""
    query = "select generation_id, offset, length, layout, digests from manifests order by generation_id, offset"
    for generation_id, *columns in journal.each(query):
        try:
            yield generation_id, manifest.Segment(*columns)
        except ValueError as error:
            yield generation_id, str(error)


def _touched(journal: Journal, digests: set[bytes]) -> dict[bytes, list[Touched]]:
    """Return the spans of files that are made of these records."""
    found: dict[bytes, list[Touched]] = {}
    if not digests:
        return found
    query = "select g.id, s.path, g.number from generations g join sources s on s.id = g.source_id"
    names = {row[0]: (shown_path(row[1]), row[2]) for row in journal.rows(query)}
    for generation_id, segment in _segments(journal):
        for piece in segment.pieces() if isinstance(segment, manifest.Segment) else ():
            if piece.value in digests and generation_id in names:
                path, number = names[generation_id]
                found.setdefault(piece.value, []).append(Touched(path, number, piece.offset, piece.length))
    return found
