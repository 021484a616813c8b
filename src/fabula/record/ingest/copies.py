"""A record met again: forks, resumed and moved sessions, sealed generations and pruned files repeat records.

The record is kept once; its row points at the best copy: an original beats a harness-rewritten copy beats a slimmed
one, then the one with the most content, then the earliest generation. Every other copy is remembered in ``copies``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from fabula.kernel.values import define, frozen
from fabula.record.ingest.fidelity import RANK, content_characters
from fabula.record.map import schema

if TYPE_CHECKING:
    import apsw

    from fabula.kernel.records import Provenance, Record
    from fabula.record.ingest.rows import Rows

LIVE_GENERATION = 1 << 30  # live files sort after every sealed generation

#: Position of columns in a row of ``records`` as ``Rows`` holds it.
_SESSION, _THREAD, _FILE, _OFFSET, _LENGTH, _FLAGS = 2, 3, 6, 7, 8, 12

_FLAG: dict[Provenance, int] = {"original": 0, "rewritten": schema.REWRITTEN, "slimmed": schema.SLIMMED}


@define
class Pointer:
    """Where a mapped record's bytes are."""

    row: int
    session: int
    thread: int | None
    file_id: int
    offset: int
    length: int
    flags: int

    @property
    def provenance(self) -> Provenance:
        """The provenance of the copy pointed at."""
        if self.flags & schema.SLIMMED:
            return "slimmed"
        return "rewritten" if self.flags & schema.REWRITTEN else "original"


@frozen
class FileFacts:
    """What decides between two files that hold the same record."""

    id: int
    path: str
    generation: int

    @property
    def age(self) -> int:
        """Sort key: sealed generations in order, live files last."""
        return LIVE_GENERATION if self.generation < 0 else self.generation


class CopyReader(Protocol):
    """Reads a mapped copy back; ``None`` when its bytes cannot be had."""

    def __call__(self, file_id: int, offset: int, length: int) -> Record | None:
        """Return the record at a span."""
        ...


def pointer_of(connection: apsw.Connection, rows: Rows, row: int) -> Pointer:
    """Return where a record points, from this batch or from the map."""
    first = int(str(rows.records[0][0])) if rows.records else row + 1
    if row >= first:
        values = rows.records[row - first]
        return Pointer(row, *(values[at] for at in (_SESSION, _THREAD, _FILE, _OFFSET, _LENGTH, _FLAGS)))  # type: ignore[arg-type]
    found = connection.execute(
        "select session_id,thread_id,file_id,offset,length,flags from records where id=?", (row,)
    ).fetchone()
    assert found is not None
    return Pointer(row, *found)


def move_pointer(connection: apsw.Connection, rows: Rows, at: Pointer) -> None:
    """Let a record's row point at another copy."""
    first = int(str(rows.records[0][0])) if rows.records else at.row + 1
    if at.row >= first:
        values = list(rows.records[at.row - first])
        values[_FILE], values[_OFFSET], values[_LENGTH], values[_FLAGS] = at.file_id, at.offset, at.length, at.flags
        rows.records[at.row - first] = tuple(values)
    else:
        connection.execute(
            "update records set file_id=?, offset=?, length=?, flags=? where id=?",
            (at.file_id, at.offset, at.length, at.flags, at.row),
        )


def better(
    record: Record, provenance: Provenance, file: FileFacts, known: Pointer, known_file: FileFacts, read: CopyReader
) -> bool:
    """Say whether a newly met copy should be pointed at instead of the known one."""
    if RANK[provenance] != RANK[known.provenance]:
        return RANK[provenance] < RANK[known.provenance]
    if record.length != known.length:
        other = read(known.file_id, known.offset, known.length)
        if other is None:
            return True
        ours, theirs = content_characters(record), content_characters(other)
        if ours != theirs:
            return ours > theirs
        if bool(record.parent_session) != bool(other.parent_session):  # a fork marks its copies
            return not record.parent_session
    if file.path == known_file.path:  # the same session file rewritten: what it holds now is nearest to hand
        return file.age > known_file.age
    return (file.age, file.path) < (known_file.age, known_file.path)  # whatever was read first


def flags_with(flags: int, provenance: Provenance) -> int:
    """Return flags that say another provenance."""
    return (flags & ~(schema.REWRITTEN | schema.SLIMMED)) | _FLAG[provenance]
