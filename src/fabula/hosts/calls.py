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
            _note(calls, block.tool_id, [record.offset, record.uid])
        elif block.kind == "result" and not record.source:
            record.source = _maker(calls.get(block.tool_id), record)
    return record


def _note(calls: dict[str, Any], tool_id: str, made: list[Any]) -> None:
    known = calls.get(tool_id)
    if not isinstance(known, list):
        calls[tool_id] = [made]
    elif made not in known:
        known.append(made)


def _maker(known: Any, record: Record) -> str:
    """Return the record that made the call; what the state holds was read from a file, and may be anything."""
    makers = [made for made in known if _is_before(made, record)] if isinstance(known, list) else []
    return str(max(makers)[1]) if makers else ""


def _is_before(made: Any, record: Record) -> bool:
    match made:
        case [int(offset), str(uid)]:
            return offset < record.offset and uid != record.uid
    return False
