"""Records that are mapped already, in this scan or an earlier one: where they are and which thread they belong to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.kernel.ids import pack_id
from fabula.kernel.records import KINDS
from fabula.record.ingest.copies import pointer_of
from fabula.record.map import schema

if TYPE_CHECKING:
    import apsw

    from fabula.kernel.records import Block
    from fabula.record.ingest.copies import CopyReader
    from fabula.record.ingest.rows import Rows

_TITLE = KINDS.index("title")


class KnownRecords:
    """Look-ups for the mapper of one scan.

    ``rows`` is the batch that is not written yet; ``fresh`` says that the map was empty when the scan began, so that
    only ``seen`` (packed uid -> row) can know anything.
    """

    def __init__(self, connection: apsw.Connection, rows: Rows, read_copy: CopyReader, *, fresh: bool) -> None:
        self.rows = rows
        self.seen: dict[bytes | str, int] = {}
        self.packed: dict[str, bytes | str] = {}  # uids of the file in hand
        self.here: dict[str, int] = {}  # rows that the file in hand added, by uid
        self._connection = connection
        self._read_copy = read_copy
        self._fresh = fresh
        self._file_id = 0

    def start_file(self, file_id: int) -> None:
        """Go on to a file."""
        self._file_id = file_id
        self.packed, self.here = {}, {}

    # ── rows ─────────────────────────────────────────────────────────

    def pack(self, uid: str) -> bytes | str:
        """Return the stored form of a uid."""
        packed = self.packed.get(uid)
        if packed is None:
            packed = self.packed[uid] = pack_id(uid)
        return packed

    def row(self, packed: bytes | str) -> int | None:
        """Return the row of a record by its packed uid."""
        row = self.seen.get(packed)
        if row is not None or self._fresh:
            return row
        found = self._connection.execute("select id from records where uid=?", (packed,)).fetchone()
        return int(found[0]) if found else None

    def row_or_uid(self, uid: str) -> int | bytes | str:
        """Return the row of a record, or its packed uid when it is not mapped (yet)."""
        packed = self.packed.get(uid) or self.pack(uid)
        row = self.row(packed)
        return packed if row is None else row

    # ── threads ──────────────────────────────────────────────────────

    def thread_of_row(self, row: int) -> int | None:
        """Return the thread of a row."""
        return pointer_of(self._connection, self.rows, row).thread

    def thread_of_record(self, uid: str) -> int | None:
        """Return the thread of a record by its uid."""
        packed = self.pack(uid)
        row = self.seen.get(packed)
        if row is not None:
            return self.thread_of_row(row)
        if self._fresh:
            return None
        found = self._connection.execute("select thread_id from records where uid=?", (packed,)).fetchone()
        return None if found is None or found[0] is None else int(found[0])

    def thread_of_spawn(self, key: str) -> int | None:
        """Return the thread of the record that spawned something: by tool id, agent id, path or uid."""
        row = self.rows.spawns.get(key)
        if row is not None:
            return self.thread_of_row(row)
        found = self._connection.execute("select record_id from spawns where key=?", (key,)).fetchone()
        return self.thread_of_row(int(found[0])) if found else self.thread_of_record(key)

    def turn_before(self) -> int | None:
        """Return the turn in which an earlier scan left the file in hand."""
        if self._fresh:
            return None
        found = self._connection.execute(
            "select thread_id from records where file_id=? and thread_id is not null and kind<>? and not flags & ?"
            " order by id desc limit 1",
            (self._file_id, _TITLE, schema.SIDECHAIN),
        ).fetchone()
        return int(found[0]) if found else None

    # ── calls ────────────────────────────────────────────────────────

    def failed_call(self, row: int) -> Block | None:
        """Read the call that a failed result of an earlier scan answered."""
        found = self._connection.execute(
            "select c.file_id, c.offset, c.length, r.file_id, r.offset, r.length from records r join records c"
            " on c.id = r.parent and (r.source is null or r.source = 1) or c.uid = r.source where r.id=?",
            (row,),
        ).fetchone()
        call, result = (self._read_copy(*found[:3]), self._read_copy(*found[3:])) if found else (None, None)
        if call is None or result is None:
            return None
        answered = {block.tool_id for block in result.blocks if block.kind == "result"}
        return next((block for block in call.blocks if block.kind == "call" and block.tool_id in answered), None)

    def held_call(self, holder: str, tool_id: str) -> Block | None:
        """Read the call with a tool id that a record of an earlier scan holds."""
        found = self._connection.execute(
            "select file_id, offset, length from records where uid=?", (self.pack(holder),)
        ).fetchone()
        record = self._read_copy(*found) if found else None
        blocks = record.blocks if record is not None else ()
        return next((block for block in blocks if block.kind == "call" and block.tool_id == tool_id), None)
