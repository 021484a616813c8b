"""Joining results to the records that hold their calls, for hosts that name calls by an id alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fabula.kernel.records import Record


def link_calls(record: Record, calls: dict[str, Any]) -> Record:
    """Note in ``calls`` (tool id -> uid) which record makes a call; of a result's record, set ``source`` from it.

    The first record that makes a call keeps it, so a record that is read again gets the same answer.
    """
    for block in record.blocks:
        if not block.tool_id:
            continue
        if block.kind == "call":
            calls.setdefault(block.tool_id, record.uid)
        elif block.kind == "result" and not record.source:
            holder = calls.get(block.tool_id, "")
            record.source = holder if isinstance(holder, str) and holder != record.uid else ""
    return record
