"""Making the index anew: into a new file, which is then taken over by one transaction of the one in use.

Readers see all of the old or all of the new; a stop before the transaction ends leaves the old, and a file that the
next rebuild removes. What does not stand in the corpus (vectors, guesses, moves) is taken along.
"""

from __future__ import annotations

from contextlib import closing, suppress
from typing import TYPE_CHECKING

import apsw

from fabula.kernel.collector import collector_paused
from fabula.memory.index import meta
from fabula.memory.index.looking import look_around
from fabula.memory.index.schema import APPLICATION_ID, SCHEMA, VERSION
from fabula.memory.index.updating import Pass, Work
from fabula.storage.database import BUSY_MILLISECONDS, open_database
from fabula.storage.files import disk_errors

if TYPE_CHECKING:
    from pathlib import Path

    from fabula.memory.index.source import Corpus
    from fabula.memory.index.values import Report

_KEPT = (
    "insert or ignore into main.vectors select * from old.vectors where hash in (select text_hash from main.files)",
    "insert or ignore into main.guesses select * from old.guesses",
    "insert or ignore into main.moves select * from old.moves",
)


def rebuild(connection: apsw.Connection, path: Path | None, corpus: Corpus, now_ms: int) -> Report:
    """Make an index anew and put it in the place of the one that ``connection`` has open at ``path``.

    ``None``: it is in memory, and has no reader but this one. Who calls holds the lock.
    """
    if path is None:
        return _filled(connection, corpus, now_ms)
    new = path.with_name(path.name + ".new")
    remove_database(new)
    try:
        made = open_database(new, schema=SCHEMA, version=VERSION, application=APPLICATION_ID, durable=False)
        with closing(made) as fresh:
            for pragma in ("journal_mode=off", "synchronous=off", "cache_size=-65536"):
                fresh.execute(f"pragma {pragma}").fetchall()
            report = _filled(fresh, corpus, now_ms)
            _take_along(fresh, path)
            take_over(connection, fresh)
    finally:
        remove_database(new)
    return report


def remove_database(path: Path) -> None:
    """Remove a database and the files beside it."""
    for ending in ("", "-wal", "-shm", "-journal"):
        with disk_errors(path):
            path.with_name(path.name + ending).unlink(missing_ok=True)


def take_over(live: apsw.Connection, fresh: apsw.Connection) -> None:
    """Give a database the contents of another, in one transaction; its revision goes on rising."""
    known = meta.revision_of(live)
    if known >= meta.revision_of(fresh):
        meta.keep(fresh, {meta.REVISION: known + 1})
    with live.backup("main", fresh, "main") as copying:
        copying.step(-1)
    live.set_busy_timeout(0)  # a reader who is at it does not hold us up: then the log stays as long as it is
    try:
        with suppress(apsw.BusyError, apsw.LockedError):
            live.execute("pragma wal_checkpoint(truncate)").fetchall()
    finally:
        live.set_busy_timeout(BUSY_MILLISECONDS)


def _filled(connection: apsw.Connection, corpus: Corpus, now_ms: int) -> Report:
    """Fill an empty index from HEAD and the work tree."""
    _empty(connection)
    head = corpus.head()
    looked = look_around(connection, corpus)
    work = Work(head, corpus.entries(head), looked, ignoring=corpus.ignoring())
    with collector_paused():
        return Pass(connection, corpus).run(work, now_ms=now_ms)


def _empty(connection: apsw.Connection) -> None:
    """Take everything out that a pass puts in: an index in memory is filled where it is."""
    with connection:
        for table in ("files", "problems", "places", "folders", "live_text", "archived_text"):
            connection.execute(f"delete from {table}")
        connection.execute("delete from meta where key = ?", (meta.HEAD,))


def _take_along(fresh: apsw.Connection, old: Path) -> None:
    """Copy what is kept by the hash of what it is about; from an index that cannot be read nothing comes along."""
    with suppress(apsw.Error):
        fresh.execute("attach ? as old", (str(old),))
        try:
            for statement in _KEPT:
                with suppress(apsw.SQLError):  # a table of another version
                    fresh.execute(statement)
        finally:
            fresh.execute("detach old")
