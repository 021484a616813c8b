"""From what a person typed to one thread, session or record: whole ids first, then beginnings that are unique."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from fabula.kernel.commands import record_command
from fabula.kernel.errors import FabulaError
from fabula.kernel.ids import pack_id, unpack_id
from fabula.kernel.values import frozen

if TYPE_CHECKING:
    import apsw

TargetKind = Literal["thread", "session", "record"]

SHORTEST_PREFIX = 4
_TABLES: dict[TargetKind, str] = {"thread": "threads", "session": "sessions", "record": "records"}


@frozen
class Target:
    """What an id names: ``id`` is the row in the map's table of that kind."""

    kind: TargetKind
    id: int
    uid: str


def identify(connection: apsw.Connection, text: str, *kinds: TargetKind) -> Target:
    """Find what ``text`` names among ``kinds``, the likeliest kind first.

    A whole id is taken in the order of the kinds. A beginning of an id must name one thing among threads and sessions;
    records are asked only when it names none. Raises ``ERR_NOT_FOUND``, ``ERR_AMBIGUOUS``.
    """
    wanted = text.strip()
    names = " or ".join(kinds)
    if not wanted:  # files beside transcripts belong to a session without an id
        raise FabulaError("ERR_NOT_FOUND", f"no {names} has an empty id", "fabula record sessions --all")
    for kind in kinds:
        found = _select(connection, kind, "uid=?", (pack_id(wanted),))
        if found:
            return _only(found, wanted)
    if len(wanted) >= SHORTEST_PREFIX:
        found = [target for kind in kinds if kind != "record" for target in _by_prefix(connection, kind, wanted)]
        if not found and "record" in kinds:
            found = _by_prefix(connection, "record", wanted)
        if found:
            return _only(found, wanted)
    short = f"; a beginning of one has {SHORTEST_PREFIX} characters at least" if len(wanted) < SHORTEST_PREFIX else ""
    told = " ".join(wanted.split())[:200]
    raise FabulaError("ERR_NOT_FOUND", f"no {names} has the id {told}{short}", "fabula record sessions --all")


def thread_of(connection: apsw.Connection, target: Target) -> int:
    """Return the row of the thread that a thread or record target means. Raises ``ERR_NOT_FOUND``."""
    if target.kind == "thread":
        return target.id
    for (thread,) in connection.execute("select thread_id from records where id = ?", (target.id,)):
        if thread is not None:
            return int(thread)
    raise FabulaError(
        "ERR_NOT_FOUND", f"{target.kind} {target.uid} belongs to no thread", record_command("block", target.uid)
    )


def _by_prefix(connection: apsw.Connection, kind: TargetKind, prefix: str) -> list[Target]:
    found = _select(connection, kind, "uid>=? and uid<?", (prefix, prefix + "\U0010ffff"))
    packed = packed_range(prefix)
    if packed is not None:
        found = _select(connection, kind, "uid>=? and uid<?", packed) + found
    return found


def packed_range(prefix: str) -> tuple[bytes, bytes] | None:
    """Return the range of packed UUIDs that begin with a text, or ``None`` when no UUID does."""
    digits = prefix.replace("-", "").lower()
    pattern = "00000000-0000-0000-0000-000000000000"
    if len(prefix) > len(pattern) or any((letter == "-") != (pattern[at] == "-") for at, letter in enumerate(prefix)):
        return None
    if not digits or any(letter not in "0123456789abcdef" for letter in digits):
        return None
    return bytes.fromhex(digits.ljust(32, "0")), bytes.fromhex(digits.ljust(32, "f")) + b"\0"


def _select(connection: apsw.Connection, kind: TargetKind, condition: str, values: tuple[object, ...]) -> list[Target]:
    statement = f"select id, uid from {_TABLES[kind]} where {condition} order by id limit 6"
    return [Target(kind, row, unpack_id(uid)) for row, uid in connection.execute(statement, values)]


def _only(found: list[Target], text: str) -> Target:
    if len(found) == 1:
        return found[0]
    some = ", ".join(f"{target.kind} {target.uid}" for target in found[:4])
    raise FabulaError("ERR_AMBIGUOUS", f"{text} names more than one: {some}", "give more letters of the id")
