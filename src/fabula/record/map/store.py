"""Opening the map: for the one writer, for readers, and starting it anew."""

from __future__ import annotations

import os
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from fabula.kernel.errors import FabulaError
from fabula.record.map.schema import APPLICATION_ID, SCHEMA, VERSION
from fabula.storage.database import OtherVersionError, open_database, open_reader

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import apsw

CACHE_KILOBYTES = 32_768


def open_map(path: Path) -> apsw.Connection:
    """Open or create the map for writing; the caller holds the writer lock.

    A map that another version of Fabula wrote is begun anew: all of it is derived.
    Raises ``ERR_DATABASE``, ``ERR_DISK``, ``ERR_READ_ONLY``.
    """
    with mended_by_rebuild():
        try:
            connection = _open(path)
        except OtherVersionError:
            remove_map(path)
            connection = _open(path)
    connection.execute(f"pragma cache_size=-{CACHE_KILOBYTES}")
    return connection


def _open(path: Path) -> apsw.Connection:
    return open_database(path, schema=SCHEMA, version=VERSION, application=APPLICATION_ID, durable=False)


def read_map(path: Path) -> apsw.Connection:
    """Open the map for reading. Raises ``ERR_NO_RECORD`` when nothing was indexed, ``ERR_DATABASE``."""
    with mended_by_rebuild():
        connection = open_reader(path, version=VERSION, application=APPLICATION_ID)
    connection.execute(f"pragma cache_size=-{CACHE_KILOBYTES}")
    return connection


def remove_map(path: Path) -> None:
    """Remove the map; the caller holds the writer lock.

    The write-ahead log goes first: a log that outlives its database would be applied to the next one. Readers that
    hold the old file open go on reading it, and see by its inode that it was replaced.
    """
    for suffix in ("-wal", "-shm", ""):
        with suppress(FileNotFoundError):
            os.unlink(f"{path}{suffix}")


def identity(path: Path) -> tuple[int, int] | None:
    """Return (device, inode) of the map, which long-lived readers compare to notice a rebuilt one."""
    try:
        found = os.stat(path)
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino


@contextmanager
def mended_by_rebuild() -> Iterator[None]:
    """Add the command that mends the map to an error that says it is damaged."""
    try:
        yield
    except FabulaError as error:
        if error.code == "ERR_DATABASE" and not error.suggestions:
            raise FabulaError(error.code, error.message, "fabula record rebuild") from error
        raise
