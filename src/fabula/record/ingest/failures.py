"""Failures while mapping: each failed result with its signature, and the later success that ended it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fabula.record.failures.resolution import resolves, subject
from fabula.record.failures.signature import signature

if TYPE_CHECKING:
    from collections.abc import Callable

    import apsw

    from fabula.kernel.records import Block
    from fabula.record.ingest.rows import Rows

OPEN_LIMIT = 200  # unresolved failures of one session that a later success may still end
PATIENCE = 60  # successes of the same tool about other things, after which a failure counts as left behind
MESSAGE_CHARACTERS = 400


@dataclass(slots=True)
class OpenFailure:
    """A failed result that nothing has resolved yet; ``call`` is read when a success asks for it."""

    record: int
    subject: str
    call: Block | None
    misses: int = 0  # successes of the same tool about something else


class FailureTracker:
    """Follows the calls of one file and pairs failures with what resolved them.

    ``read_call`` gives the call that a failed record of an earlier scan answered.
    """

    def __init__(
        self, rows: Rows, read_call: Callable[[int], Block | None], earlier: apsw.Connection | None, session: int
    ) -> None:
        """``earlier`` is the map when it may hold failures of the session from earlier scans."""
        self.rows = rows
        self._read_call = read_call
        self._earlier = earlier
        self._session = session
        self._calls: dict[str, Block] = {}  # by tool id, until the result comes
        self._open: dict[str, list[OpenFailure]] = {}  # by tool

    def _resume(self, connection: apsw.Connection) -> None:
        """Take up the unresolved failures that earlier scans found in the session."""
        self._earlier = None
        for tool, about, record in connection.execute(
            "select f.tool, f.subject, f.record_id from failures f join records r on r.id=f.record_id"
            " where r.session_id=? and f.resolved_by is null and f.subject<>'' order by f.record_id desc limit ?",
            (self._session, OPEN_LIMIT),
        ):
            self._open.setdefault(tool, []).append(OpenFailure(record, about, None))

    def call(self, block: Block) -> None:
        """Remember a call until its result comes."""
        if self._earlier is not None:
            self._resume(self._earlier)
        if block.tool_id:
            self._calls[block.tool_id] = block

    def result(self, block: Block, row: int, thread: int | None, time: int | None) -> None:
        """Take in a result: a failure opens, a success ends the failures of the same call."""
        call = self._calls.pop(block.tool_id, None)
        if block.failed:
            self._failed(block, call, row, thread, time)
        elif call is not None and call.tool in self._open:
            self._succeeded(call, row)

    def _failed(self, block: Block, call: Block | None, row: int, thread: int | None, time: int | None) -> None:
        found = signature(block.text)
        if found is None:
            return
        tool, about = (call.tool, subject(call)) if call is not None else ("", "")
        self.rows.failures.append((found[0], row, thread, time, tool, about, found[1][:MESSAGE_CHARACTERS]))
        if call is not None:
            self._open.setdefault(tool, []).append(OpenFailure(row, about, call))

    def _succeeded(self, call: Block, row: int) -> None:
        about = subject(call)
        still_open = []
        for failure in self._open[call.tool]:
            if failure.subject == about and failure.call is None:
                failure.call = self._read_call(failure.record)
            if failure.subject == about and failure.call is not None and resolves(failure.call, call):
                self.rows.resolutions.append((row, failure.record))
            elif failure.misses < PATIENCE:
                failure.misses += 1
                still_open.append(failure)
        if still_open:
            self._open[call.tool] = still_open[-OPEN_LIMIT:]
        else:
            del self._open[call.tool]
