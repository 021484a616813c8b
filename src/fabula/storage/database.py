"""SQLite through apsw, the only library that opens databases here: two in one process drop each other's locks.

The databases of an encrypted vault, and its map, go through ``sealed_files``.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

import apsw

from fabula.kernel.errors import FabulaError
from fabula.storage import keyring
from fabula.storage.files import PRIVATE_FILE, disk_errors

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

BUSY_MILLISECONDS = 20_000
_WRITING = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE


class OtherVersionError(FabulaError):
    """The database is ours and has another format than this Fabula reads (``ERR_DATABASE``)."""


def open_database(path: Path, *, schema: str, version: int, application: int, durable: bool) -> apsw.Connection:
    """Open or create one of our databases for writing, in WAL mode.

    ``durable`` databases (truth) sync at every commit; derived ones may lose the last commits at a power failure,
    never their consistency. Raises ``ERR_DATABASE`` when the file is not ours, damaged, or of another version.
    """
    vfs = _vfs_of(path)  # before anything is made: the key may not be there
    with disk_errors(path):
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, PRIVATE_FILE))
    with database_errors(path):
        connection = _connect(path, _WRITING, vfs)
        connection.set_busy_timeout(BUSY_MILLISECONDS)
        if not path.stat().st_size:  # counts for a new file alone, before its first page
            connection.execute("pragma auto_vacuum=incremental")
        connection.execute("pragma journal_mode=wal")
        connection.execute(f"pragma synchronous={'full' if durable else 'normal'}")
        if _read_version(connection, path, application) == 0:
            with connection:
                connection.execute(schema)
                connection.execute(f"pragma application_id={application}")
                connection.execute(f"pragma user_version={version}")
        _check_version(connection, path, version)
    return connection


def connect(path: Path, flags: int) -> apsw.Connection:
    """Connect to one of our databases, sealed or not, as it is. Raises SQLite's errors, ``ERR_KEY``."""
    return _connect(path, flags, _vfs_of(path))


def _connect(path: Path, flags: int, vfs: str | None) -> apsw.Connection:
    if vfs is None:
        return apsw.Connection(os.fspath(path), flags=flags)
    connection = apsw.Connection(os.fspath(path), flags=flags, vfs=vfs)
    connection.execute("pragma temp_store=memory")
    return connection


def _vfs_of(path: Path) -> str | None:
    """Return through which VFS a database is opened; ``None`` for SQLite's own. Raises ``ERR_KEY``."""
    vault = keyring.encrypted_vault_of(path)
    if vault is None:
        return None
    if not path.exists() or not path.stat().st_size:
        cipher = keyring.cipher_for_new(vault)
    elif keyring.is_sealed(path):
        cipher = keyring.cipher_of(vault)
    else:
        return None
    if cipher is None:
        return None
    from fabula.storage.sealed_files import vfs_of

    return vfs_of(cipher)


def open_reader(path: Path, *, version: int, application: int) -> apsw.Connection:
    """Open one of our databases read-only; a missing file is ``ERR_NO_RECORD``, and nothing is created."""
    if not path.exists():
        raise FabulaError("ERR_NO_RECORD", f"{path} does not exist", "fabula record scan")
    with database_errors(path):
        connection = _connect_reader(path)
        _read_version(connection, path, application)
        _check_version(connection, path, version)
    return connection


def _connect_reader(path: Path) -> apsw.Connection:
    """Connect read-only.

    In a folder that cannot be written SQLite has no place for its lock file: it is told that nobody writes there,
    which is true unless a write-ahead log lies beside the database.
    """
    connection = connect(path, apsw.SQLITE_OPEN_READONLY)
    connection.set_busy_timeout(BUSY_MILLISECONDS)
    try:
        connection.pragma("schema_version")
    except (apsw.CantOpenError, apsw.ReadOnlyError):
        connection.close()
        log = path.with_name(path.name + "-wal")
        if os.access(path.parent, os.W_OK) or (log.exists() and log.stat().st_size):
            raise
        vfs = _vfs_of(path)
        uri = f"{path.absolute().as_uri()}?immutable=1{f'&vfs={vfs}' if vfs else ''}"
        connection = apsw.Connection(uri, flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)
    return connection


def _read_version(connection: apsw.Connection, path: Path, application: int) -> int:
    found = int(connection.pragma("application_id") or 0)
    version = int(connection.pragma("user_version") or 0)
    tables = connection.execute("select count(*) from sqlite_schema").fetchone()
    if found != application and (found or (tables and tables[0])):
        raise FabulaError("ERR_DATABASE", f"{path} is a database of another program")
    return version


def _check_version(connection: apsw.Connection, path: Path, version: int) -> None:
    found = int(connection.pragma("user_version") or 0)
    if found != version:
        connection.close()
        raise OtherVersionError("ERR_DATABASE", f"{path} has format {found}, this Fabula reads {version}")


@contextmanager
def database_errors(path: Path) -> Iterator[None]:
    """Translate SQLite's refusals into errors a person can act on."""
    try:
        yield
    except apsw.FullError as error:
        raise FabulaError("ERR_DISK", f"{path}: the disk is full", f"free some space: df -h {path}") from error
    except apsw.ReadOnlyError as error:
        raise FabulaError("ERR_READ_ONLY", f"{path}: read-only", f"make it writable: chmod u+rw {path}") from error
    except apsw.BusyError as error:
        raise FabulaError("ERR_LOCKED", f"{path}: another process is writing", "repeat the command") from error
    except (apsw.NotADBError, apsw.CorruptError) as error:
        raise FabulaError("ERR_DATABASE", f"{path} is damaged: {error}") from error
    except (apsw.IOError, apsw.CantOpenError) as error:
        raise FabulaError("ERR_DISK", f"{path}: {error}") from error


def give_back_free_pages(connection: apsw.Connection, share: float = 0.05) -> None:
    """Shrink the file when more than ``share`` of its pages are free; outside of any transaction."""
    free, pages = int(connection.pragma("freelist_count") or 0), int(connection.pragma("page_count") or 0)
    if free > pages * share:
        connection.execute("pragma incremental_vacuum").fetchall()


def structural_problem(connection: apsw.Connection, path: Path) -> str:
    """Return the first thing wrong with a database's pages, "" when there is none. Reads all of it, indexes apart."""
    try:
        with database_errors(path):
            found = connection.execute("pragma quick_check(1)").fetchone()
    except FabulaError as error:
        return error.message
    return "" if found is None or found[0] == "ok" else f"{path} is damaged: {found[0]}"
