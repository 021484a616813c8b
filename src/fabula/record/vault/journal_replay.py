"""Reading the journal's copy back: what it says, and where it does not say what the journal says."""

from __future__ import annotations

from contextlib import suppress
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from fabula.kernel.errors import FabulaError
from fabula.record.vault.changes import COLUMNS, apply
from fabula.record.vault.folder import PACKS, copies_on_disk, copy_name
from fabula.record.vault.journal_copy import META, WHOLE, encoder, state_of
from fabula.record.vault.schema import ADDED, SCHEMA
from fabula.storage.packs import PackReader

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import apsw


class Replay:
    """What a log says: the tables of a journal, in memory, and what of the log could not be read."""

    def __init__(self, db: apsw.Connection, name: str) -> None:
        self.db = db
        self.name = name
        self.owner = b""
        self.whole = False  # its beginning is there to the end
        self.problems: list[str] = []


def replay(folder: Path, state: tuple[int, int, int] | None = None) -> Replay | None:
    """Play a log back: the one that the journal names, or the newest that began whole; ``None`` without one."""
    names = copies_on_disk(folder)
    if state is not None:
        names = {number: name for number, name in names.items() if number == state[0]}
    best: Replay | None = None
    for number in sorted(names, reverse=True):
        played = _play(folder / PACKS / names[number], None if state is None else state[1])
        if played.whole:
            return played
        best = best or played
    return best


def _play(path: Path, end: int | None) -> Replay:
    import apsw

    played = Replay(apsw.Connection(":memory:"), path.name)
    played.db.execute(SCHEMA + ADDED)
    try:
        log = PackReader(path)
    except OSError as error:
        played.problems.append(error.strerror or str(error))
        return played
    try:
        _, played.owner = log.header()
        size = log.size()
        if end is not None and size < end:
            played.problems.append(f"it has {size} bytes, {end} were written")
        with played.db:
            for part in log.walk(size if end is None else min(end, size)):
                if isinstance(part, str):
                    played.problems.append(part)
                else:
                    _take(played, part.offset, part.table, part.content)
    except (ValueError, OSError) as error:
        played.problems.append(str(error))
    finally:
        log.close()
    return played


def _take(played: Replay, offset: int, table: list[tuple[bytes, int]], content: bytes) -> None:
    from apsw import Error
    from msgspec import MsgspecError, msgpack

    if [(sha256(content).digest(), len(content))] != table:
        played.problems.append(f"at byte {offset}: it does not match its digest")
        return
    try:
        changes = msgpack.decode(content, type=list[tuple[str, str, list[tuple[Any, ...]]]])
        played.whole = played.whole or any(op == WHOLE for op, _, _ in changes)
        apply(played.db, [change for change in changes if change[0] != WHOLE])
    except (MsgspecError, Error, ValueError, TypeError) as error:
        played.problems.append(f"at byte {offset}: {error}")


def differences(db: apsw.Connection, folder: Path) -> Iterator[tuple[str, str]]:
    """Yield (file, problem) where the log does not say what the journal says; nothing when there is no log.

    Called inside a transaction of the journal.
    """
    row = db.execute("select value from meta where key=?", (META,)).fetchone()
    state = state_of(row[0] if row else None)
    if not state[0]:
        return
    name = copy_name(state[0])
    played = replay(folder, state)
    problems = ["it is missing"] if played is None else played.problems
    if problems and _is_newer(folder, state[0]):
        return  # a writer has begun another one meanwhile
    for problem in problems:
        yield name, f"the journal's copy: {problem}"
    if played is None or problems:
        return
    for table, columns in COLUMNS.items():
        if _rows(db, table, columns) != _rows(played.db, table, columns):
            yield name, f"the journal's copy has other rows of {table} than the journal"


def _rows(db: apsw.Connection, table: str, columns: tuple[str, ...]) -> bytes:
    """Return a digest of a table's rows: two journals are compared without holding the rows of either."""
    summed = sha256()
    where = f"where key<>'{META}'" if table == "meta" else ""
    order = ", ".join(str(column + 1) for column in range(len(columns)))
    for row in db.execute(f"select {', '.join(columns)} from {table} {where} order by {order}"):
        summed.update(encoder()(row))
    return summed.digest()


def _is_newer(folder: Path, number: int) -> bool:
    """Say whether the journal names another log by now than ``number``."""
    from fabula.record.vault.journal import Journal

    with suppress(FabulaError):
        journal = Journal.open(folder, read_only=True)
        try:
            return state_of(journal.meta(META))[0] != number
        finally:
            journal.close()
    return False
