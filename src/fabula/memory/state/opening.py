"""Opening ``.fabula/state.db``: derived, so a bad one is made anew; where nothing can be written, in memory."""

from __future__ import annotations

import os
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from fabula.kernel.errors import FabulaError
from fabula.memory.state.schema import APPLICATION_ID, SCHEMA, VERSION
from fabula.storage.database import database_errors, open_database

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import apsw

WAIT_MILLISECONDS = 5_000
_MADE_ANEW = frozenset(("ERR_DATABASE",))
_CANNOT_WRITE = frozenset(("ERR_READ_ONLY", "ERR_DISK", "ERR_PATH"))


def open_state(file: Path) -> apsw.Connection:
    """Open the state of a corpus; made when it is missing, in memory where it cannot be written."""
    if not _can_write(file):
        return _in_memory()
    try:
        return _open(file)
    except FabulaError as error:
        if error.code in _CANNOT_WRITE:
            return _in_memory()
        if error.code not in _MADE_ANEW:
            raise
    remove_state(file)
    return _open(file)


def is_kept(connection: apsw.Connection) -> bool:
    """Say whether a state lies on disk."""
    return bool(connection.filename)


def remove_state(file: Path) -> None:
    """Throw a state away: it is folded anew from the logs."""
    for ending in ("", "-wal", "-shm"):
        with suppress(FileNotFoundError):
            os.unlink(f"{file}{ending}")


def _can_write(file: Path) -> bool:
    folder = file.parent
    if file.exists():
        return os.access(file, os.W_OK) and os.access(folder, os.W_OK)
    return os.access(folder if folder.exists() else folder.parent, os.W_OK)


def _open(file: Path) -> apsw.Connection:
    from fabula.storage.files import ensure_folder

    ensure_folder(file.parent)
    connection = open_database(file, schema=SCHEMA, version=VERSION, application=APPLICATION_ID, durable=False)
    connection.set_busy_timeout(WAIT_MILLISECONDS)
    return connection


def _in_memory() -> apsw.Connection:
    import apsw

    connection = apsw.Connection(":memory:")
    connection.execute(SCHEMA)
    return connection


@contextmanager
def changing(connection: apsw.Connection, file: Path) -> Iterator[None]:
    """Hold the tables for one change, which is there as a whole or not at all. Raises ``ERR_LOCKED``, ``ERR_DISK``."""
    with database_errors(file):
        connection.execute("begin immediate")
        try:
            yield
        except BaseException:
            connection.execute("rollback")
            raise
        connection.execute("commit")
