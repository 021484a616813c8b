"""Sessions kept as rows of another program's SQLite database, read as a stream of canonical JSON lines.

One line a row: ``{"row":{column:value,…},"table":name}``. Texts stay texts, so a JSON column is kept letter for
letter; a blob is ``{"utf8":…}`` where it is valid UTF-8, else ``{"hex":…}``, and a real ``{"real":repr}``, so that
rows can be rebuilt exactly. A blob may lean on an earlier one (:class:`Shared`).
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import apsw
import msgspec

from fabula.kernel.canonical import canonical_json
from fabula.kernel.values import frozen
from fabula.record.sources import Chunk, Found

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    #: Yields (table, row) of one session in the stream's order, given an open database and the session's key.
    RowWalk = Callable[[apsw.Connection, str], Iterator[tuple[str, "Row"]]]


@frozen
class Shared:
    """A blob that begins like that of an earlier row: ``length`` bytes of the same column ``back`` rows of the table
    before, then ``rest``. Written as ``{"back":…,"hex":…,"length":…}``."""

    back: int
    length: int
    rest: bytes


Value = str | int | float | bytes | Shared | None
Row = dict[str, Value]

CHUNK_BYTES = 8 << 20
BUSY_MILLISECONDS = 2_000
_decode = msgspec.json.Decoder().decode


# ── rows and lines ───────────────────────────────────────────────────


def row_line(table: str, row: Row) -> bytes:
    """Return the line of a row, without its line end."""
    return canonical_json({"row": {name: _written(value) for name, value in row.items()}, "table": table})


def read_line(line: bytes) -> tuple[str, Row]:
    """Inverse of :func:`row_line`. Raises ``ValueError`` for anything else."""
    try:
        value = _decode(line)
        table, row = value["table"], value["row"]
        return str(table), {name: _read(item) for name, item in row.items()}
    except (msgspec.DecodeError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"not a row: {error}") from error


def column_bytes(line: bytes, columns: tuple[str, ...]) -> bytes | None:
    """Return the first of ``columns`` that holds a text or a blob, as the database holds it; ``None`` without one."""
    row = read_line(line)[1]
    for column in columns:
        value = row.get(column)
        if isinstance(value, str | bytes):
            return value.encode("utf-8", "surrogatepass") if isinstance(value, str) else value
    return None


def _written(value: Value) -> Any:
    if isinstance(value, Shared):
        return {"back": value.back, "hex": value.rest.hex(), "length": value.length}
    if isinstance(value, bytes):
        try:
            return {"utf8": value.decode()}
        except UnicodeDecodeError:
            return {"hex": value.hex()}
    return {"real": repr(value)} if isinstance(value, float) else value


def _read(value: Any) -> Value:
    if isinstance(value, dict):
        if "back" in value:
            return Shared(int(value["back"]), int(value["length"]), bytes.fromhex(value["hex"]))
        if "utf8" in value:
            return str(value["utf8"]).encode()
        return bytes.fromhex(value["hex"]) if "hex" in value else float(value["real"])
    if value is None or isinstance(value, str | int):
        return value
    raise TypeError(f"a column holds no {type(value).__name__}")


# ── reading a foreign database ───────────────────────────────────────


@contextmanager
def foreign_reader(path: str, notes: list[str] | None = None) -> Iterator[apsw.Connection]:
    """Open another program's database in one read transaction, without creating or changing a file of it.

    A database in WAL mode that nobody has open is read as immutable: opened otherwise, SQLite would leave two new
    files beside it. While its owner runs, its log is there and is read with it; where the log cannot be read because
    the folder is read-only, the state before it is read and ``notes`` says so. Raises ``OSError``, also when an owner
    came and wrote while the database was read as immutable: what was read is then not to be trusted.
    """
    version = version_of(path)
    immutable = not version[2]
    try:
        connection = _begin(path, immutable=immutable)
    except OSError:
        if immutable or os.access(os.path.dirname(path) or ".", os.W_OK):
            raise
        connection, immutable = _begin(path, immutable=True), True
        if notes is not None:
            notes.append("its folder is read-only: what its owner wrote last could not be read")
    try:
        yield connection
    finally:
        connection.close()
    if immutable and version_of(path) != version:
        raise OSError(f"{path}: changed while it was read")


def version_of(path: str) -> tuple[int, ...]:
    """Return what changes when the database does: size and time of its file and of its log. Raises ``OSError``."""
    found = os.stat(path)
    try:
        log = os.stat(path + "-wal")
    except FileNotFoundError:
        return found.st_size, found.st_mtime_ns, 0, 0
    return found.st_size, found.st_mtime_ns, log.st_size, log.st_mtime_ns


def _begin(path: str, *, immutable: bool) -> apsw.Connection:
    options = "immutable=1" if immutable else "mode=ro"
    with as_os_error(path):
        connection = apsw.Connection(
            f"file:{quote(str(Path(path).absolute()))}?{options}",
            flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI,
        )
        try:
            connection.set_busy_timeout(BUSY_MILLISECONDS)
            connection.execute("begin")
            connection.execute("select 1 from sqlite_schema limit 1").fetchall()
        except BaseException:
            connection.close()
            raise
    return connection


@contextmanager
def as_os_error(path: str) -> Iterator[None]:
    """Turn what SQLite refuses into ``OSError``: a foreign database is a file like any other."""
    try:
        yield
    except (apsw.Error, UnicodeDecodeError) as error:
        raise OSError(f"{path}: {error}") from error


# ── the container ────────────────────────────────────────────────────


class SessionRows:
    """The rows of one session as a stream of lines (``record.sources.Container``).

    The stream of a session that changed is read whole again: its rows change in place.
    """

    def __init__(self, database: str, key: str, walk: RowWalk, chunk_bytes: int = CHUNK_BYTES) -> None:
        self.waiting = 0
        self.tail = b""
        self._database, self._key, self._walk = database, key, walk
        self._chunk_bytes = chunk_bytes

    def chunks(self, start: int = 0) -> Iterator[Chunk]:
        """Yield the stream behind its first ``start`` bytes, which end a line. Raises ``OSError``."""
        with foreign_reader(self._database) as connection, as_os_error(self._database):
            yield from line_chunks(
                (row_line(table, row) for table, row in self._walk(connection, self._key)), start, self._chunk_bytes
            )


def line_chunks(lines: Iterable[bytes], start: int, chunk_bytes: int) -> Iterator[Chunk]:
    """Cut a stream of lines into chunks; every line is one value."""
    offset, data, values = start, bytearray(), list[Found]()
    passed = 0
    for line in lines:
        if passed < start:
            passed += len(line) + 1
            continue
        values.append(Found(offset + len(data), len(line), _decode(line)))
        data += line
        data += b"\n"
        if len(data) >= chunk_bytes:
            yield Chunk(offset, bytes(data), values)
            offset, data, values = offset + len(data), bytearray(), []
    if data:
        yield Chunk(offset, bytes(data), values)


def select_rows(connection: apsw.Connection, sql: str, *bindings: str) -> Iterator[Row]:
    """Run one statement and yield its rows by column name."""
    cursor = connection.cursor()
    names: list[str] = []
    for values in cursor.execute(sql, bindings):
        names = names or [str(column[0]) for column in cursor.get_description()]
        yield dict(zip(names, values, strict=True))
