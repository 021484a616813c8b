"""Joining results to the records that hold their calls, for hosts that name calls by an id alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fabula.kernel.records import Record


def link_calls(record: Record, calls: dict[str, Any]) -> Record:
    """Note in ``calls`` (tool id -> [offset, uid]…) which record makes a call; of a result, set ``source`` from it.

    A model may name calls alike in two runs of one session. The last call before the result is meant, wherever
    reading has got to, so a record that is read again gets the same answer.
    """
    for block in record.blocks:
        if not block.tool_id:
            continue
        if block.kind == "call":
            note_record(calls, block.tool_id, record)
        elif block.kind == "result" and not record.source:
            record.source = record_before(calls, block.tool_id, record)
    return record


def note_record(table: dict[str, Any], key: str, record: Record) -> None:
    """Add a record to those that ``table`` has under ``key``."""
    known, made = table.get(key), [record.offset, record.uid]
    if not isinstance(known, list):
        table[key] = [made]
    elif made not in known:
        known.append(made)


def record_before(table: dict[str, Any], key: str, record: Record) -> str:
    """Return the uid of the last record under ``key`` before ``record``, ``""`` where there is none.

    What the table holds was read from a file, and may be anything.
    """
    known = table.get(key)
    makers = [made for made in known if _is_before(made, record)] if isinstance(known, list) else []
    return str(max(makers)[1]) if makers else ""


def _is_before(made: Any, record: Record) -> bool:
    match made:
        case [int(offset), str(uid)]:
            return offset < record.offset and uid != record.uid
    return False
