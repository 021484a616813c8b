"""What is stamped into heads when memories move and take each other's place. Bytes in, bytes out; articles stay."""

from __future__ import annotations

from fabula.memory.format.edit import add_link, read_meta, remove_meta, set_meta
from fabula.memory.format.times import parse
from fabula.memory.format.vocabulary import OURS, PREFIX

STATUS, UPDATED, ARCHIVED, SUPERSEDED_BY, VALID_FROM, VALID_UNTIL = (
    PREFIX + name for name in ("status", "updated", "archived", "superseded-by", "valid-from", "valid-until")
)
ORIGIN, REASON = OURS + "origin", OURS + "reason"
REASON_CHARACTERS = 200


def archived_bytes(data: bytes, path: str, at: str, reason: str = "") -> bytes:
    """Return a file as it goes to the archive from ``path``: state, moment, where it was, and why."""
    for name, value in ((STATUS, "archived"), (UPDATED, at), (ARCHIVED, at), (ORIGIN, path)):
        data = set_meta(data, name, value)
    return set_meta(data, REASON, shortened(reason)) if reason.strip() else remove_meta(data, REASON)


def loser_bytes(data: bytes, winner: str, until: str) -> bytes:
    """Return a file whose place another takes; what it held for ends then, or earlier where it says so itself."""
    data = set_meta(data, SUPERSEDED_BY, f"/{winner}")
    return set_meta(data, VALID_UNTIL, earlier(read_meta(data, VALID_UNTIL), until))


def winner_bytes(data: bytes, loser: str, since: str) -> bytes:
    """Return a file that takes the place of another; ``loser`` is where that is now."""
    data = add_link(data, "supersedes", loser)
    return data if read_meta(data, VALID_FROM) else set_meta(data, VALID_FROM, since)


def unarchived_bytes(data: bytes, at: str, stamped_until: str | None = None) -> bytes:
    """Return a file as it comes back from the archive.

    ``stamped_until``: the end of its validity that a successor stamped, taken away with the rest.
    """
    data = set_meta(set_meta(data, STATUS, "active"), UPDATED, at)
    for name in (ARCHIVED, SUPERSEDED_BY, ORIGIN, REASON):
        data = remove_meta(data, name)
    return remove_meta(data, VALID_UNTIL, stamped_until) if stamped_until else data


def earlier(stated: str | None, other: str) -> str:
    """Return the earlier of two times; one that is no time loses."""
    one, two = parse(stated or ""), parse(other)
    return stated if stated and one is not None and (two is None or one < two) else other


def shortened(reason: str) -> str:
    """Return a reason as a meta holds it: on one line and bounded. The commit has the whole.

    It is short so that git still sees an archived file as the one that was moved (half of its lines alike).
    """
    line = " ".join(reason.split())
    return line if len(line) <= REASON_CHARACTERS else line[: REASON_CHARACTERS - 1].rstrip() + "…"
