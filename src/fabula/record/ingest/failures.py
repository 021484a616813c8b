"""Failures while mapping: each failed result with its signature, and the later success that ended it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.kernel.values import define
from fabula.record.failures.resolution import Hints, resolves, subject
from fabula.record.failures.signature import signature

if TYPE_CHECKING:
    from collections.abc import Callable

    import apsw

    from fabula.kernel.records import Block
    from fabula.record.ingest.rows import Rows

OPEN_LIMIT = 200  # unresolved failures of one session that a later success may still end
PATIENCE = 1_000  # results of a file after which a failure counts as left behind
MESSAGE_CHARACTERS = 400


@define
class OpenFailure:
    """A failed result that nothing has resolved yet; ``call`` is read when a success asks for it."""

    record: int
    tool: str
    subject: str
    call: Block | None
    since: int  # how many results the file had given when it failed


class FailureTracker:
    """Follows the calls of one file and pairs failures with what resolved them.

    ``read_call`` gives the call that a failed record of an earlier scan answered; ``held_call`` the call with a tool id
    in a record of an earlier scan.
    """

    def __init__(
        self,
        rows: Rows,
        read_call: Callable[[int], Block | None],
        held_call: Callable[[str, str], Block | None],
        earlier: apsw.Connection | None,
        session: int,
    ) -> None:
        """``earlier`` is the map when it may hold calls and failures of the session from earlier scans."""
        self.rows = rows
        self._read_call = read_call
        self._held_call = held_call
        self._earlier = earlier
        self._resumed = earlier is None
        self._session = session
        self._calls: dict[str, Block] = {}  # by tool id, until the result comes
        self._open: dict[str, list[OpenFailure]] = {}  # by subject
        self._hints = Hints()  # of the subjects that are open
        self._results = 0

    def _resume(self) -> None:
        """Take up the unresolved failures that earlier scans found in the session."""
        self._resumed = True
        assert self._earlier is not None
        for tool, about, record in self._earlier.execute(
            "select f.tool, f.subject, f.record_id from failures f join records r on r.id=f.record_id"
            " where r.session_id=? and f.resolved_by is null and f.subject<>'' order by f.record_id desc limit ?",
            (self._session, OPEN_LIMIT),
        ):
            self._open_up(OpenFailure(record, tool, about, None, self._results))

    def _open_up(self, failure: OpenFailure) -> None:
        self._hints.add(failure.tool, failure.subject)
        self._open.setdefault(failure.subject, []).append(failure)

    def call(self, block: Block) -> None:
        """Remember a call until its result comes."""
        if block.tool_id:
            self._calls[block.tool_id] = block

    def result(self, block: Block, row: int, holder: str, thread: int | None, time: int | None) -> None:
        """Take in a result: a failure opens, a success ends the failures of calls about the same thing.

        ``holder`` is the id of the record that holds the call, which an earlier scan may have mapped.
        """
        if not self._resumed:
            self._resume()
        self._results += 1
        call = self._calls.pop(block.tool_id, None)
        if call is None and self._earlier is not None and (block.failed or self._open):
            call = self._held_call(holder, block.tool_id)
        if block.failed:
            self._failed(block, call, row, thread, time)
        elif call is not None and self._open and self._hints.allow(call):
            self._succeeded(call, row)

    def _failed(self, block: Block, call: Block | None, row: int, thread: int | None, time: int | None) -> None:
        found = signature(block.text)
        if found is None:
            return
        tool, about = (call.tool, subject(call)) if call is not None else ("", "")
        self.rows.failures.append((found[0], row, thread, time, tool, about, found[1][:MESSAGE_CHARACTERS]))
        if call is not None:
            self._open_up(OpenFailure(row, tool, about, call, self._results))

    def _succeeded(self, call: Block, row: int) -> None:
        about = self._open.pop(subject(call), None)
        if about is None:
            return
        still_open = []
        for failure in about:
            if self._results - failure.since > PATIENCE:
                continue
            failed = failure.call or self._read_call(failure.record)
            if failed is not None and resolves(failed, call):
                self.rows.resolutions.append((row, failure.record))
            else:
                still_open.append(failure)
        if still_open:
            self._open[still_open[0].subject] = still_open
        else:
            self._hints = Hints()
            for failures in self._open.values():
                self._hints.add(failures[0].tool, failures[0].subject)
