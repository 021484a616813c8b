"""By what a record is known again: its bytes, its id, what it says. Pure.

A forgotten record comes back in other dress: re-serialised by a pruner, copied into a fork of another session, repeated
without an id. Each of these keeps one of the marks.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from fabula.kernel.canonical import canonical_json
from fabula.kernel.hashes import digest
from fabula.kernel.records import Record
from fabula.record.vault.tombstones import CONTENT, TELLING_BYTES, UID, WEAK, mark_of_bytes

if TYPE_CHECKING:
    from fabula.record.vault.tombstones import Mark

TELLING_WORDS = 5  # from which on a text without a time is known by its words alone
#: What a fork changes in the lines that it repeats.
_VOLATILE = frozenset({
    "timestamp", "time", "sessionId", "session_id", "uuid", "parentUuid", "id", "cwd", "gitBranch", "version",
    "forkedFrom",
})  # fmt: skip
_OWN_ID = re.compile(rb'"(?:uuid|id)"\s*:\s*"([^"\\]{8,64})"')


def marks_of(path: str, sha: bytes, size: int, value: Any, outcome: Record | str) -> list[Mark]:
    """Return the marks of a record: ``outcome`` is what its host's normaliser made of ``value``."""
    marks = [mark_of_bytes(path, sha, size)]
    if isinstance(outcome, Record):
        if outcome.has_id:
            marks.append((UID, outcome.uid.encode("utf-8", "surrogatepass")))
        if size < TELLING_BYTES:
            return marks
        said = content(outcome)
        if said is not None:
            marks.append((CONTENT, said))
        if outcome.has_id:
            return marks
    if size >= TELLING_BYTES:
        marks += [(kind, form) for kind, form in ((CONTENT, _canonical(value)), (WEAK, _weak(value))) if form]
    return marks


def marks_of_ids(data: bytes) -> list[Mark]:
    """Return the marks of records that unreadable bytes name as their own id."""
    return [(UID, found) for found in _OWN_ID.findall(data)]


def content(record: Record) -> bytes | None:
    """Return a digest of what a record says, and when; ``None`` when it says too little to be known by it.

    Ids, sessions and folders are left out: a copy in another session has others.
    """
    parts = [repr(record.time), record.title]
    if not any(block.text or (block.input and block.kind == "call") for block in record.blocks) and not record.title:
        return None
    if record.time is None and _words(record) < TELLING_WORDS:
        return None
    for block in record.blocks:
        form = _canonical(block.input) if block.kind == "call" else None
        parts += [block.kind, block.text, block.tool, form.hex() if form else ""]
    return digest("\0".join(parts).encode("utf-8", "surrogatepass"))


def _words(record: Record) -> int:
    return sum(len(block.text.split()) for block in record.blocks) + len(record.title.split())


def _canonical(value: Any) -> bytes | None:
    """Return a digest of a value in whatever way it was written; ``None`` for what is no object."""
    if not isinstance(value, dict) or not value:
        return None
    return _digest(["value", value])


def _weak(value: Any) -> bytes | None:
    """Return a digest of a value without what a fork changes in it."""
    if not isinstance(value, dict):
        return None
    kept = {key: inner for key, inner in value.items() if key not in _VOLATILE}
    return _digest(["weak", kept]) if kept else None


def _digest(what: list[Any]) -> bytes | None:
    try:
        return digest(canonical_json(what))
    except (RecursionError, TypeError, ValueError):
        return None
