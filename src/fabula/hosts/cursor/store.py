"""The rows of one Cursor chat in the order of its conversation.

A chat is a database of its own with two tables: ``meta(key, value)``, whose value is JSON in hex, and
``blobs(id, data)``, where a blob is named after the SHA-256 of its data and never changes. Messages are JSON blobs;
checkpoints list them, each the whole conversation so far. Blobs lie in the order in which they were written.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.hosts.cursor.checkpoints import ENTRY_BYTES, leading_entries, read_checkpoint, shared_entries
from fabula.hosts.cursor.meta import read_meta
from fabula.hosts.fields import text_of
from fabula.kernel.values import define
from fabula.record.containers.rows import Shared, select_rows

if TYPE_CHECKING:
    from collections.abc import Iterator

    import apsw

    from fabula.record.containers.rows import Row

_BLOBS = "select rowid, id, cast(substr(data, 1, 1) as blob) = x'7b' from blobs order by rowid"


def chat_rows(connection: apsw.Connection, _session: str) -> Iterator[tuple[str, Row]]:
    """Yield the rows of ``meta``, then every blob once, in :func:`reading_order`.

    Checkpoints grow by a few messages each, so all of them together are of the square of the chat's length: but for
    the latest, each leans on the one before it (``record.containers.rows.Shared``).
    """
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
    latest = next((number for number, identity in others.items() if identity == root), 0)
    leanings = _look(connection, others, objects, latest)
    listed = {number: leaning.messages for number, leaning in leanings.items()}
    places: dict[int, int] = {}
    rest = [number for number in others if number not in listed]
    for place, number in enumerate([*reading_order(list(objects.values()), listed, latest), *rest]):
        places[number] = place
        for row in select_rows(connection, "select * from blobs where rowid=?", str(number)):
            leaning, data = leanings.get(number), row.get("data")
            if leaning is not None and leaning.shared and isinstance(data, bytes):
                row["data"] = Shared(place - places[leaning.base], leaning.shared, data[leaning.shared :])
            yield "blobs", row


@define
class _Leaning:
    """A checkpoint: how many bytes it shares with ``base``, and the rows of the messages that it lists behind them."""

    messages: list[int]
    base: int = 0
    shared: int = 0


def _look(
    connection: apsw.Connection, others: dict[int, str], objects: dict[str, int], latest: int
) -> dict[int, _Leaning]:
    """Find the checkpoints among the blobs that are no JSON, in the order of writing."""
    found: dict[int, _Leaning] = {}
    base, before, entries = 0, b"", 0
    for number in others:
        data = next(connection.execute("select data from blobs where rowid=?", (number,)), (b"",))[0]
        if not isinstance(data, bytes):
            continue
        shared = shared_entries(before, entries, data)
        checkpoint = read_checkpoint(data[shared * ENTRY_BYTES :], cut=shared > 0)
        if checkpoint is None:
            continue
        known = [checkpoint.messages, *checkpoint.subagents.values()]
        messages = [objects[identity] for identities in known for identity in identities if identity in objects]
        if number == latest:
            found[number] = _Leaning(messages)
        elif messages or shared or checkpoint.pending:
            found[number] = _Leaning(messages, base, shared * ENTRY_BYTES)
            base, before, entries = number, data, shared + leading_entries(data, shared * ENTRY_BYTES)
    return found


def reading_order(messages: list[int], listed: dict[int, list[int]], latest: int) -> list[int]:
    """Order the rows of blobs as they are read: each checkpoint, then the messages that it is the first to list.

    ``messages`` are JSON blobs, ``listed`` says which of them each checkpoint lists, in the order of the conversation;
    ``latest`` is the current one (0: unknown). Messages that none lists come where they were written: before the latest
    checkpoint, or behind it.
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
    for checkpoint in sorted(listed.keys() - {latest}):
        tell([checkpoint, *listed[checkpoint]])
    if latest in listed:
        tell([number for number in unlisted if number < latest])
        tell([latest, *listed[latest]])
    tell(unlisted)
    return order
