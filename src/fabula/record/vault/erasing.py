"""Erasing from the vault: one transaction makes bytes unreachable, then they are removed from every file.

The transaction is the commit point. It buries the prints, turns pieces of manifests into holes, takes records out of
the index, and notes that erasing has begun (``meta``: ``erasing``). What follows can be repeated at will, and the next
writer of the vault repeats it when a crash came between: packs are written anew without the records that nothing refers
to, the journal is written anew without its free pages, its log is emptied.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from fabula.kernel.errors import FabulaError
from fabula.kernel.values import define, field
from fabula.record.vault import manifest
from fabula.record.vault.journal import journal_errors, marked
from fabula.record.vault.journal_shared import drop_unused
from fabula.record.vault.strays import find_strays, held_by, remove_strays
from fabula.record.vault.sweeping import Swept, sweep
from fabula.record.vault.tombstones import keyed_print
from fabula.storage.files import disk_errors
from fabula.storage.packs_codec import Compressor

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    import apsw

    from fabula.record.vault.journal import Journal
    from fabula.record.vault.tombstones import Mark

ERASING = "erasing"  # the row of ``meta`` that says that erasing is not finished
FORGETTING, COLLECTING, REPAIRED = b"forgetting", b"collecting", b"repaired"  # its values: why
BUSY_MILLISECONDS = 10_000  # that readers are waited for, who keep old pages in the log
_LEFTOVERS = ("journal.damaged.db", "journal.new.db")
_BLANK = b" \t\r\n"


@define
class Erasure:
    """What goes. ``pieces`` are (offset, length) in generations, exactly as their manifests name them."""

    pieces: dict[int, list[tuple[int, int]]] = field(default_factory=dict)
    tails: set[int] = field(default_factory=set)
    marks: set[Mark] = field(default_factory=set)
    uids: set[str] = field(default_factory=set)  # whose citations go
    kept: list[tuple[str, str]] = field(default_factory=list)  # (kind, ref) whose title, pin and card go

    def __bool__(self) -> bool:
        """Say whether there is anything to erase."""
        return bool(self.pieces or self.tails or self.marks or self.kept)


def erase(folder: Path, journal: Journal, erasure: Erasure, now_ms: int) -> Swept:
    """Erase, whole. The caller holds the vault's lock and has written nothing else.

    Raises ``ERR_DISK``, ``ERR_DATABASE``; ``ERR_LOCKED`` when readers keep old pages of the journal: then everything
    is unreachable already, and the next writer finishes.
    """
    commit_erasure(folder, journal, erasure, now_ms)
    return finish(folder, journal)


def commit_erasure(folder: Path, journal: Journal, erasure: Erasure, now_ms: int) -> None:
    """Make what goes unreachable, in one durable transaction. Raises ``ERR_DISK``, ``ERR_DATABASE``."""
    from fabula.record.vault import journal_copy

    journal.identity()
    key = journal.meta("tombstone_key") or b""
    with journal_errors(journal.path), journal.connection as db:
        db.executemany(
            "insert or ignore into tombstones values(?,?,?,?)",
            [marked((keyed_print(key, kind, value), kind, now_ms)) for kind, value in sorted(erasure.marks)],
        )
        gone: set[bytes] = set()
        for generation_id, pieces in sorted(erasure.pieces.items()):
            gone |= _punch(db, generation_id, dict(pieces))
        _drop_tails(db, erasure.tails)
        _drop_keepsakes(db, erasure)
        _drop_empty_sources(db)
        drop_unused(db)
        _unlist(db, gone)
        db.execute("insert or replace into meta values(?,?,?)", marked((ERASING, FORGETTING)))
        journal_copy.renew(db, folder)


def begin_again(folder: Path) -> None:
    """After a repair, which reads packs as they are: let the next writer erase whatever was forgotten.

    A forgetting that was not finished before stays one: the damaged journal that a repair keeps holds it as well.
    """
    from fabula.record.vault.journal import Journal

    journal = Journal.open(folder, read_only=False)
    try:
        if journal.rows("select 1 from tombstones limit 1") and journal.meta(ERASING) != FORGETTING:
            journal.put("meta", [(ERASING, REPAIRED)])
    finally:
        journal.close()


def is_unfinished(journal: Journal) -> bool:
    """Say whether a crash came between an erasure's commit and its end."""
    return journal.meta(ERASING) is not None


def finish(folder: Path, journal: Journal) -> Swept:
    """Remove what was made unreachable from every file of the vault; may be repeated. Raises as :func:`erase`."""
    from fabula.record.vault import journal_copy

    why = journal.meta(ERASING) or FORGETTING
    with journal_errors(journal.path), journal.connection as db:
        drop_unused(db)
        _unlist(db, _buried(journal))  # a repair in between reads packs as they are
    swept = sweep(folder, journal, keep_damaged=why == COLLECTING)
    if why != COLLECTING:
        strays = find_strays(folder, journal, held_by(journal))
        remove_strays(folder, [stray for stray in strays if stray.forgotten])
        swept.unreadable += [f"{stray.name}: {stray.reason}" for stray in strays if stray.forgotten and stray.reason]
    with disk_errors(folder):
        for name in _LEFTOVERS if why == FORGETTING else ():
            for suffix in ("", "-wal", "-shm", "-journal"):
                (folder / f"{name}{suffix}").unlink(missing_ok=True)
    _rewrite(journal)
    _empty_log(journal)  # before erasing counts as finished: the log keeps old pages
    with journal_errors(journal.path), journal.connection as db:
        db.execute("delete from meta where key=?", (ERASING,))
        journal_copy.renew(db, folder)
    return swept


def _rows(db: apsw.Connection, query: str, *bindings: object) -> list[tuple[Any, ...]]:
    return db.execute(query, bindings).fetchall()


# -- manifests -----------------------------------------------------------------------------------------------------


def _punch(db: apsw.Connection, generation_id: int, pieces: dict[int, int]) -> set[bytes]:
    """Turn pieces of a generation into holes; return the digests that stood there."""
    gone: set[bytes] = set()
    compressor = Compressor()
    query = "select offset, length, layout, digests from manifests where generation_id=? order by offset"
    for offset, length, layout, digests in _rows(db, query, generation_id):
        segment = manifest.Segment(offset, length, layout, digests)
        found = {piece.offset: piece for piece in segment.pieces() if pieces.get(piece.offset) == piece.length}
        if not found:
            continue
        gone |= {piece.value for piece in found.values() if piece.kind in manifest.IN_PACK}
        encoded = with_holes(segment.pieces(), found.keys()).encode(compressor)
        db.execute(
            "update segments set layout=?, digests=?, mark=? where generation_id=? and offset=?",
            (*encoded, marked((generation_id, offset, length, *encoded))[-1], generation_id, offset),
        )
    return gone


def with_holes(pieces: Iterable[manifest.Piece], gone: Iterable[int]) -> manifest.Layout:
    """Return a manifest in which the pieces that begin at ``gone`` are holes; holes that touch become one."""
    layout = manifest.Layout()
    where = frozenset(gone)
    for piece in pieces:
        if piece.kind == manifest.HOLE or piece.offset in where:
            _add_hole(layout, piece.length)
            continue
        layout.kinds.append(piece.kind)
        layout.lengths.append(piece.length)
        if piece.kind == manifest.GAP:
            layout.gaps.append(piece.value)
        else:
            layout.digests.append(piece.value)
    return layout


def _add_hole(layout: manifest.Layout, length: int) -> None:
    """Add a hole; line ends between it and the hole before become part of one hole."""
    kinds, lengths = layout.kinds, layout.lengths
    follows = len(kinds) >= 2 and kinds[-1] == manifest.GAP and kinds[-2] == manifest.HOLE
    if follows and not layout.gaps[-1].strip(_BLANK):
        kinds.pop()
        layout.gaps.pop()
        length += lengths.pop()
    if kinds and kinds[-1] == manifest.HOLE:
        lengths[-1] += length
        return
    kinds.append(manifest.HOLE)
    lengths.append(length)


_GENERATION = (
    "select id, source_id, number, provenance, immutable, length, tail_digest, tail, begun_at, sealed_at"
    " from generations where id=?"
)


def _drop_tails(db: apsw.Connection, tails: Iterable[int]) -> None:
    for generation_id in sorted(tails):
        row = db.execute(_GENERATION, (generation_id,)).fetchone()
        if row is not None:
            emptied = marked((*row[:7], b"", *row[8:]))
            db.execute("insert or replace into generations values(?,?,?,?,?,?,?,?,?,?,?)", emptied)


def _drop_keepsakes(db: apsw.Connection, erasure: Erasure) -> None:
    db.executemany("delete from citations where uid=?", [(uid,) for uid in sorted(erasure.uids)])
    for table in ("titles", "pins"):
        db.executemany(f"delete from {table} where kind=? and ref=?", erasure.kept)
    db.executemany("delete from cards where ref=?", [(ref,) for _, ref in erasure.kept])


def _drop_empty_sources(db: apsw.Connection) -> None:
    """Remove files from the ledger that are gone from disk and of which only holes are left."""
    for (source_id,) in _rows(db, "select id from sources where vanished_at is not null"):
        generations = _rows(db, "select id, length(tail) from generations where source_id=?", source_id)
        if generations and all(not tail and _is_hollow(db, number) for number, tail in generations):
            db.executemany("delete from segments where generation_id=?", [row[:1] for row in generations])
            db.execute("delete from generations where source_id=?", (source_id,))
            db.execute("delete from sources where id=?", (source_id,))


def _is_hollow(db: apsw.Connection, generation_id: int) -> bool:
    """Say whether a generation has a hole, and beside holes nothing but blanks."""
    holes = 0
    for row in _rows(db, "select offset, length, layout, digests from manifests where generation_id=?", generation_id):
        for piece in manifest.Segment(*row).pieces():
            holes += piece.kind == manifest.HOLE
            if piece.kind in manifest.IN_PACK or (piece.kind == manifest.GAP and piece.value.strip()):
                return False
    return holes > 0


# -- the index -----------------------------------------------------------------------------------------------------


def referenced(db: apsw.Connection) -> set[bytes]:
    """Return the digests that manifests name. Raises ``ValueError`` when a manifest is damaged."""
    found: set[bytes] = set()
    for row in _rows(db, "select offset, length, layout, digests from manifests"):
        found.update(piece.value for piece in manifest.Segment(*row).pieces() if piece.kind in manifest.IN_PACK)
    return found


def _unlist(db: apsw.Connection, digests: Iterable[bytes]) -> None:
    """Take records out of the index that no manifest names any more."""
    wanted = set(digests)
    if not wanted:
        return
    rows = [(digest,) for digest in sorted(wanted - referenced(db))]
    db.executemany("delete from blobs where digest=?", rows)
    db.executemany("delete from loose where digest=?", rows)


def _buried(journal: Journal) -> set[bytes]:
    """Return the digests in the index whose bytes were forgotten."""
    from fabula.record.vault.tombstones import BYTES, Tombstones

    tombstones = Tombstones.load(journal)
    if tombstones is None:
        return set()
    query = "select digest from blobs union all select digest from loose"
    return {digest for (digest,) in journal.each(query) if tombstones.has(BYTES, digest)}


# -- the journal's own file ----------------------------------------------------------------------------------------


def _rewrite(journal: Journal) -> None:
    """Write the journal anew: free pages, and what is left of old rows inside of pages, go."""
    with journal_errors(journal.path):
        db = journal.connection
        db.execute("pragma temp_store=memory")
        db.execute("pragma secure_delete=on")
        db.execute("vacuum")


def _empty_log(journal: Journal) -> None:
    """Bring the log into the file and cut it to nothing. Raises ``ERR_LOCKED`` while others read old pages."""
    with journal_errors(journal.path):
        journal.connection.set_busy_timeout(BUSY_MILLISECONDS)
        busy: Any = journal.connection.execute("pragma wal_checkpoint(truncate)").fetchone()
    if busy and busy[0]:
        raise FabulaError(
            "ERR_LOCKED",
            "nothing of it can be reached any more, but another process still reads old pages of the journal",
            "end it, then let the next scan remove them: fabula record scan",
        )


def finish_if_needed(folder: Path, journal: Journal, note: Callable[[Swept], None] | None = None) -> None:
    """Finish what a crash left unfinished; readers that are in the way do not keep a writer from its work."""
    if not is_unfinished(journal):
        return
    with suppress(FabulaError):
        swept = finish(folder, journal)
        if note is not None:
            note(swept)
