"""Where the index lies: in its corpus; where that cannot be written, elsewhere for it; else in memory."""

from __future__ import annotations

import os
from contextlib import nullcontext, suppress
from typing import TYPE_CHECKING, Final

import apsw

from fabula.kernel.errors import FabulaError
from fabula.kernel.hashes import digest
from fabula.kernel.values import frozen
from fabula.memory.index.rebuilding import remove_database
from fabula.memory.index.schema import APPLICATION_ID, SCHEMA, VERSION
from fabula.storage.database import open_database, open_reader
from fabula.storage.files import disk_errors, ensure_folder
from fabula.storage.locks import FileLock

if TYPE_CHECKING:
    from pathlib import Path

FOLDER: Final = ".fabula"
NAME: Final = "index.db"
LOCK: Final = "index.lock"
LOG_BYTES: Final = 4 * 1024 * 1024  # what the log keeps of the disk after a large change
REPLACING_SECONDS: Final = 30.0  # how long a damaged index waits for its turn to be replaced
_UNWRITABLE: Final = frozenset({"ERR_READ_ONLY", "ERR_DISK", "ERR_PATH"})


@frozen
class Opened:
    """An open index. ``kind``: ``corpus``, ``elsewhere``, ``memory``; ``path`` and ``lock`` are none in memory.

    ``writable``: it may be brought up to date. ``notice`` says what is not as usual.
    """

    connection: apsw.Connection
    kind: str
    path: Path | None
    lock: Path | None
    writable: bool = True
    notice: str = ""
    inode: int = 0  # of the file that was opened


def open_in_corpus(root: Path, *, is_held: bool = False) -> Opened:
    """Open the index of a corpus; a damaged one, or one of another version, is begun anew.

    Where the corpus cannot be written, an index that lies there is opened for reading. ``is_held``: who calls has the
    lock. Raises ``ERR_READ_ONLY``,
    ``ERR_DISK``, ``ERR_PATH`` where there is none to be had.
    """
    folder = root / FOLDER
    path = folder / NAME
    try:
        ensure_folder(folder)
        return Opened(_opened(path, is_held=is_held), "corpus", path, folder / LOCK, inode=_inode(path))
    except FabulaError as error:
        if error.code not in _UNWRITABLE or not path.exists():
            raise
        connection = open_reader(path, version=VERSION, application=APPLICATION_ID)
        return Opened(connection, "corpus", path, None, writable=False)


def open_elsewhere(root: Path, scratch: Path | None, why: str, *, is_held: bool = False) -> Opened:
    """Open an index for a corpus that cannot be written: in a folder of its own below ``scratch``, else in memory."""
    if scratch is not None:
        folder = scratch / digest(os.fsencode(os.path.realpath(root))).hex()[:16]
        with suppress(FabulaError):
            ensure_folder(folder)
            notice = f"{root} cannot be written ({why}): its index is kept in {folder}"
            path = folder / NAME
            return Opened(
                _opened(path, is_held=is_held), "elsewhere", path, folder / LOCK, notice=notice, inode=_inode(path)
            )
    connection = apsw.Connection(":memory:")
    connection.execute(SCHEMA)
    connection.execute("pragma foreign_keys=on")
    notice = f"{root} cannot be written ({why}): its index is made in memory, and again by the next command"
    return Opened(connection, "memory", None, None, notice=notice)


def is_in_place(opened: Opened) -> bool:
    """Say whether the file that is open is still the one that others find at its path."""
    return opened.path is None or _inode(opened.path) == opened.inode


def _inode(path: Path) -> int:
    try:
        return os.stat(path).st_ino
    except OSError:
        return 0


def _opened(path: Path, *, is_held: bool) -> apsw.Connection:
    """Open an index for writing, one that is there or a new one."""
    try:
        if _size(path):
            return _connected(path)
    except FabulaError as error:
        if error.code != "ERR_DATABASE":
            raise
    with nullcontext() if is_held else FileLock(path.with_name(LOCK), REPLACING_SECONDS):
        try:  # another process may have been first
            if _size(path):
                return _connected(path)
        except FabulaError as error:
            if error.code != "ERR_DATABASE":
                raise
        _create(path)
        return _connected(path)


def _create(path: Path) -> None:
    """Put an empty index in place. It has its tables before it has its name: who finds it finds it whole."""
    new = path.with_name(path.name + ".first")
    remove_database(new)
    open_database(new, schema=SCHEMA, version=VERSION, application=APPLICATION_ID, durable=False).close()
    remove_database(path)
    with disk_errors(path):
        os.replace(new, path)


def _size(path: Path) -> int:
    try:
        return os.stat(path).st_size
    except OSError:
        return 0


def _connected(path: Path) -> apsw.Connection:
    connection = open_database(path, schema=SCHEMA, version=VERSION, application=APPLICATION_ID, durable=False)
    connection.execute("pragma foreign_keys=on")
    connection.execute("pragma temp_store=memory")
    connection.execute(f"pragma journal_size_limit={LOG_BYTES}")
    # a file that was replaced meanwhile must not take the log of its successor with it when it is closed
    connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    return connection
