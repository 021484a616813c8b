"""What quotes a record that is to be forgotten: what was handed out, recalled, or said again elsewhere."""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING

from fabula.kernel.ids import pack_id, unpack_id
from fabula.kernel.values import define, field, frozen
from fabula.record.map.schema import PASSAGE_COLUMNS

if TYPE_CHECKING:
    from collections.abc import Iterator

    import apsw

    from fabula.kernel.records import Record
    from fabula.record.vault.journal import Journal

PHRASE_WORDS = 8
PHRASES_PER_RECORD = 2
PHRASES = 120  # looked for at most: a sample, said to be one
_COLUMNS = " ".join(name for name, _ in PASSAGE_COLUMNS if name != "scope")


@frozen
class HandedOut:
    """A record whose bytes were given to a reader, who may quote them. Times in ms."""

    record: str
    reader: str
    first_at: int
    last_at: int


@frozen
class Quoting:
    """A thread of another part of the record that says the same; ``how`` is ``recalled`` or ``says the same``."""

    thread: str
    session: str
    how: str


@define
class Phrases:
    """A sample of what is said in the records that go."""

    found: list[str] = field(default_factory=list)

    def take(self, record: Record) -> None:
        """Take in a record's beginning and middle."""
        for block in record.blocks:
            if len(self.found) >= PHRASES:
                return
            words = block.text.split() if block.kind in {"text", "thought", "result"} else ()
            for start in {0, len(words) // 2} if len(words) >= PHRASE_WORDS else ():
                self.found.append(" ".join(words[start : start + PHRASE_WORDS]))


def handed_out(journal: Journal, uids: set[str]) -> list[HandedOut]:
    """Return to whom records were handed out, the earliest first."""
    query = "select uid, reader, first_at, last_at from citations order by first_at, uid, reader"
    return [HandedOut(*row) for row in journal.each(query) if row[0] in uids]


def quoting(
    connection: apsw.Connection, phrases: Phrases, rows: list[int], uids: set[str], threads: set[str]
) -> list[Quoting]:
    """Return the threads that recalled what goes, or say the same; ``rows`` are the map's rows that go, in order."""
    found: dict[tuple[int, str], None] = {}
    wanted = {pack_id(each) for each in uids | threads}
    gone = set(rows)
    for record, ref, thread in connection.execute(
        "select c.record_id, c.ref, r.thread_id from citations c join records r on r.id = c.record_id"
    ):
        if ref in wanted and record not in gone and thread is not None:
            found[int(str(thread)), "recalled"] = None
    for thread in _saying(connection, phrases, rows):
        found.setdefault((thread, "says the same"))
    return [Quoting(*names, how) for thread, how in found for names in _names(connection, thread)]


def _saying(connection: apsw.Connection, phrases: Phrases, rows: list[int]) -> Iterator[int]:
    statement = (
        "select p.thread_id, p.first_record, p.last_record from passages_fts f join passages p on p.id = f.rowid"
        " where passages_fts match ? order by p.id limit 20"
    )
    for phrase in dict.fromkeys(phrases.found):
        query = f'{{{_COLUMNS}}} : "{phrase.replace(chr(34), " ").replace(chr(0), " ")}"'
        for thread, first, last in connection.execute(statement, (query,)):
            at = bisect_left(rows, first)
            if at == len(rows) or rows[at] > last:
                yield int(str(thread))


def _names(connection: apsw.Connection, thread: int) -> Iterator[tuple[str, str]]:
    statement = "select t.uid, s.uid from threads t join sessions s on s.id = t.session_id where t.id=?"
    for uid, session in connection.execute(statement, (thread,)):
        yield unpack_id(uid), unpack_id(session)
