"""The rows of one Cursor chat in the order of its conversation.

A chat is a database of its own with two tables [observed]: ``meta(key, value)``, whose value is JSON in hex, and
``blobs(id, data)``, where a blob is named after the SHA-256 of its data and never changes. Messages are JSON blobs;
checkpoints list them, each the whole conversation so far. Blobs lie in the order in which they were written.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.hosts.cursor.checkpoints import read_checkpoint
from fabula.hosts.cursor.meta import read_meta
from fabula.hosts.fields import text_of
from fabula.record.containers.rows import select_rows

if TYPE_CHECKING:
    from collections.abc import Iterator

    import apsw

    from fabula.record.containers.rows import Row

_BLOBS = "select rowid, id, cast(substr(data, 1, 1) as blob) = x'7b' from blobs order by rowid"


def chat_rows(connection: apsw.Connection, _session: str) -> Iterator[tuple[str, Row]]:
    """Yield the rows of ``meta``, then every blob once, in :func:`reading_order`."""
    root = ""
    for row in select_rows(connection, "select * from meta order by key"):
        root = root or text_of(read_meta(row.get("value")), "latestRootBlobId")
        yield "meta", row
    objects: dict[str, int] = {}  # id of a JSON blob -> its row
    others: dict[int, str] = {}
    for number, identity, is_object in connection.execute(_BLOBS):
        if is_object:
            objects[str(identity)] = int(number)
        else:
            others[int(number)] = str(identity)
    listed = {number: _listed(connection, number, objects) for number in others}
    latest = next((number for number, identity in others.items() if identity == root), 0)
    for number in reading_order(list(objects.values()), listed, latest):
        for row in select_rows(connection, "select * from blobs where rowid=?", str(number)):
            yield "blobs", row


def reading_order(messages: list[int], listed: dict[int, list[int]], latest: int) -> list[int]:
    """Order the rows of blobs as they are read: each checkpoint, then the messages that it is the first to list.

    ``messages`` are JSON blobs, ``listed`` says which of them each other blob lists, in the order of the conversation;
    ``latest`` is the current checkpoint (0: unknown). Messages that no checkpoint lists come where they were written:
    before the latest checkpoint, or behind it. Blobs that list nothing come last.
    """
    order: list[int] = []
    told: set[int] = set()

    def tell(numbers: list[int]) -> None:
        for number in numbers:
            if number not in told:
                told.add(number)
                order.append(number)

    known = {number for numbers in listed.values() for number in numbers}
    unlisted = [number for number in messages if number not in known]
    for checkpoint in sorted(number for number, numbers in listed.items() if numbers and number != latest):
        tell([checkpoint, *listed[checkpoint]])
    if latest:
        tell([number for number in unlisted if number < latest])
        tell([latest, *listed.get(latest, [])])
    tell(unlisted)
    tell(sorted(listed))
    return order


def _listed(connection: apsw.Connection, number: int, objects: dict[str, int]) -> list[int]:
    """Return the rows of the JSON blobs that a blob lists; of one that is no checkpoint there are none."""
    for (data,) in connection.execute("select data from blobs where rowid=?", (number,)):
        checkpoint = read_checkpoint(data) if isinstance(data, bytes) else None
        if checkpoint is not None:
            return [objects[identity] for identity in checkpoint.messages if identity in objects]
    return []
