"""Failures while mapping: each failed result with its signature, and the later success that ended it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.record.failures.resolution import subject
from fabula.record.failures.signature import signature

if TYPE_CHECKING:
    import apsw

    from fabula.kernel.records import Block
    from fabula.record.ingest.rows import Rows

OPEN_LIMIT = 200  # unresolved failures of one session that a later success may still end


class FailureTracker:
    """Follows the calls of one file and pairs failures with what resolved them."""

    def __init__(self, rows: Rows, connection: apsw.Connection, session: int, *, fresh: bool) -> None:
        self.rows = rows
        self._calls: dict[str, tuple[str, str]] = {}  # tool id -> (tool, subject)
        self._open: dict[tuple[str, str], list[int]] = {}  # (tool, subject) -> failed records
        if not fresh:
            self._load(connection, session)

    def _load(self, connection: apsw.Connection, session: int) -> None:
        for tool, about, record in connection.execute(
            "select f.tool, f.subject, f.record_id from failures f join records r on r.id=f.record_id"
            " where r.session_id=? and f.resolved_by is null order by f.record_id desc limit ?",
            (session, OPEN_LIMIT),
        ):
            self._open.setdefault((tool, about), []).append(record)

    def call(self, block: Block) -> None:
        """Remember a call until its result comes."""
        if block.tool_id:
            self._calls[block.tool_id] = (block.tool, subject(block))

    def result(self, block: Block, row: int, thread: int | None, time: int | None) -> None:
        """Take in a result: a failure opens, a success ends the failures of the same call."""
        key = self._calls.pop(block.tool_id, None)
        if block.failed:
            found = signature(block.text)
            if found is None:
                return
            tool, about = key or ("", "")
            self.rows.failures.append((found[0], row, thread, time, tool, about, found[1][:400]))
            if key is not None and about:
                self._open.setdefault(key, []).append(row)
        elif key is not None and key in self._open:
            self.rows.resolutions += [(row, failed) for failed in self._open.pop(key)]
