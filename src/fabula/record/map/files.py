"""Rows of the map's ``files`` table: what is known of every file that was read."""

from __future__ import annotations

import json
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from fabula.kernel.records import Accounting, SourceFile
from fabula.kernel.values import define, field, names_of

if TYPE_CHECKING:
    import apsw

    from fabula.kernel.records import Provenance

_COLUMNS = (
    "id,path,generation,host,kind,session_id,provenance,immutable,size,mtime_ns,ctime_ns,inode,scanned_ns,read_to,"
    "tail_digest,vault_generation,state,accounting,error,vanished_at,waiting"
)

_STATS = "select path,generation,id,size,mtime_ns,ctime_ns,inode,scanned_ns,read_to,immutable,vanished_at from files"

_AT = (
    "where id = (select r.id from folders d join file_rows r on r.folder_id = d.id"
    " where d.path = ? and r.name = ? and r.generation = ?)"
)

_INSERT = (
    " into file_rows(folder_id,name,generation,kind_id,session_id,immutable,size,mtime_ns,ctime_ns,inode,scanned_ns)"
    " values((select id from folders where path=?),?,?,"
    "(select id from file_kinds where host=? and kind=? and provenance=?),?,?,?,?,?,?,?)"
)

_ACCOUNTS = names_of(Accounting)


@define
class KnownFile:
    """A file as the last scan left it."""

    id: int
    path: str
    generation: int
    host: str
    kind: str
    session_id: int | None
    provenance: Provenance
    immutable: bool
    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int
    scanned_ns: int
    read_to: int = 0
    tail_digest: bytes | None = None
    vault_generation: int | None = None
    state: dict[str, Any] | None = None
    accounting: Accounting = field(default_factory=Accounting)
    error: str | None = None
    vanished_at: int | None = None
    waiting: int = 0  # bytes of an unterminated last line after read_to


class KnownStat(tuple[Any, ...]):
    """What decides whether a file changed: a look at thousands of unchanged files needs no more.

    A tuple with names, as ``NamedTuple`` makes it for the price of a millisecond in every command.
    """

    __slots__ = ()
    id: int
    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int
    scanned_ns: int
    read_to: int
    immutable: int
    vanished_at: int | None


for _place, _name in enumerate(KnownStat.__annotations__):
    setattr(KnownStat, _name, property(itemgetter(_place)))


@define
class KnownStats:
    """The stats of every file by (path, generation). ``live``: the rows of files that were there at the last scan."""

    by_file: dict[tuple[str, int], KnownStat] = field(default_factory=dict)
    live: set[int] = field(default_factory=set)

    def put(self, path: str, generation: int, stat: KnownStat) -> None:
        """Note the stat of one file."""
        self.by_file[path, generation] = stat
        if generation < 0 and stat.vanished_at is None:
            self.live.add(stat.id)
        else:
            self.live.discard(stat.id)


def all_stats(connection: apsw.Connection) -> KnownStats:
    """Load the stats of every file."""
    known = KnownStats()
    make = KnownStat
    known.by_file = {(row[0], row[1]): make(row[2:]) for row in connection.execute(_STATS)}
    live = connection.execute("select id from file_rows where generation < 0 and vanished_at is null")
    known.live = {row for (row,) in live}
    return known


def stat_of(connection: apsw.Connection, path: str, generation: int) -> KnownStat | None:
    """Load the stat of one generation of a path."""
    row = connection.execute(f"{_STATS} {_AT}", (*_split(path), generation)).fetchone()
    return KnownStat(row[2:]) if row else None


def all_files(connection: apsw.Connection) -> list[KnownFile]:
    """Load every row."""
    return [_from_row(row) for row in connection.execute(f"select {_COLUMNS} from files")]


def file_by_id(connection: apsw.Connection, file_id: int) -> KnownFile | None:
    """Load one row."""
    row = connection.execute(f"select {_COLUMNS} from files where id=?", (file_id,)).fetchone()
    return _from_row(row) if row else None


def file_at(connection: apsw.Connection, path: str, generation: int) -> KnownFile | None:
    """Load the row of one generation of a path."""
    row = connection.execute(f"select {_COLUMNS} from files {_AT}", (*_split(path), generation)).fetchone()
    return _from_row(row) if row else None


def _from_row(row: tuple[Any, ...]) -> KnownFile:
    known = KnownFile(*row[:16])
    known.immutable = bool(row[7])
    known.state = json.loads(row[16]) if row[16] else None
    known.accounting = Accounting(*json.loads(row[17])) if row[17] else Accounting()
    known.error, known.vanished_at, known.waiting = row[18], row[19], row[20]
    return known


def _split(path: str) -> tuple[str, str]:
    """Split a path into its folder, separator included, and its name: joined they are the path again."""
    cut = max(path.rfind("/"), path.rfind("\\")) + 1
    return path[:cut], path[cut:]


def insert_file(connection: apsw.Connection, file: SourceFile, session_id: int, scanned_ns: int) -> KnownFile:
    """Add a row for a file seen for the first time (or for a new generation of it)."""
    folder, name = _split(file.path)
    kind = (file.host, file.kind, file.provenance)
    values = (
        folder, name, file.generation, *kind, session_id, int(file.immutable),
        file.size, file.mtime_ns, file.ctime_ns, file.inode, scanned_ns,
    )  # fmt: skip
    connection.execute(f"insert or ignore {_INSERT}", values)
    if not connection.changes():  # the first file in its folder, or of its kind
        connection.execute("insert or ignore into folders(path) values(?)", (folder,))
        connection.execute("insert or ignore into file_kinds(host,kind,provenance) values(?,?,?)", kind)
        connection.execute(f"insert {_INSERT}", values)
    return KnownFile(
        connection.last_insert_rowid(), file.path, file.generation, file.host, file.kind, session_id, file.provenance,
        file.immutable, file.size, file.mtime_ns, file.ctime_ns, file.inode, scanned_ns,
    )  # fmt: skip


def save_progress(connection: apsw.Connection, known: KnownFile) -> None:
    """Store how far a file was read and what came of it."""
    import msgspec  # only scans write, and many rows

    accounts = [getattr(known.accounting, name) for name in _ACCOUNTS]
    connection.execute(
        "update file_rows set size=?,mtime_ns=?,ctime_ns=?,inode=?,scanned_ns=?,read_to=?,tail_digest=?,"
        "vault_generation=?,state=?,accounting=?,error=?,vanished_at=?,waiting=? where id=?",
        (
            known.size, known.mtime_ns, known.ctime_ns, known.inode, known.scanned_ns, known.read_to,
            known.tail_digest, known.vault_generation,
            msgspec.json.encode(known.state).decode() if known.state else None,
            msgspec.json.encode(accounts).decode(), known.error, known.vanished_at, known.waiting, known.id,
        ),
    )  # fmt: skip


def save_stat(connection: apsw.Connection, known: KnownFile, file: SourceFile, scanned_ns: int) -> None:
    """Store a new stat of a file whose bytes are as they were."""
    connection.execute(
        "update file_rows set size=?,mtime_ns=?,ctime_ns=?,inode=?,scanned_ns=?,vanished_at=null where id=?",
        (file.size, file.mtime_ns, file.ctime_ns, file.inode, scanned_ns, known.id),
    )


def retire(connection: apsw.Connection, known: KnownFile, number: int) -> None:
    """Turn a live row into a sealed generation: the file on disk holds other bytes now."""
    connection.execute("update file_rows set generation=?, immutable=1 where id=?", (number, known.id))


def forget_row(connection: apsw.Connection, known: KnownFile) -> None:
    """Remove a row; nothing may point at it any more."""
    connection.execute("delete from file_rows where id=?", (known.id,))
