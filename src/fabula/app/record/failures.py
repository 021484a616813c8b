"""The verb ``record failures``: an error in, the same error before and what solved it out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.app.record.reading import clean, scope_of
from fabula.kernel.commands import record_command
from fabula.kernel.errors import FabulaError
from fabula.kernel.records import KINDS
from fabula.kernel.values import frozen
from fabula.record.failures.lookup import most_frequent, newest, occurrences, signatures
from fabula.record.failures.normal import normalised
from fabula.record.failures.signature import signature
from fabula.record.failures.similar import most_alike
from fabula.record.failures.solution import Step, steps

if TYPE_CHECKING:
    from fabula.app.access import Freshness
    from fabula.app.wiring import App
    from fabula.record.failures.lookup import FailureRow
    from fabula.record.loader import Loaded
    from fabula.record.reading.catalogue import Window

_LIMIT = 5  # occurrences with their solutions
_BETWEEN = 60  # records looked at between a failure and what ended it
_STEPS = 12
_REPLY, _CALL = KINDS.index("reply"), KINDS.index("call")


@frozen
class FailuresRequest:
    """``text``: an error message or a whole traceback; "" lists the errors met most often. Times in ms."""

    text: str = ""
    all: bool = False
    limit: int | None = None
    since: int | None = None
    until: int | None = None


@frozen
class Resolution:
    """What ended a failure: the result that succeeded, and what was done until then. ``omitted`` steps are not told."""

    record: str
    steps: tuple[Step, ...]
    omitted: int


@frozen
class Occurrence:
    """One failure. ``match`` is 1 for the same signature, else how alike it is. No ``resolution``: none was seen."""

    message: str
    signature: str
    match: float
    tool: str
    about: str
    time: int | None
    record: str
    thread: str
    session: str
    host: str
    project: str
    resolution: Resolution | None
    read_on: str


@frozen
class Frequent:
    """An error met often, and its newest occurrence."""

    message: str
    signature: str
    count: int
    resolved: int
    sessions: int
    last_time: int | None
    read_on: str


@frozen
class FailuresResult:
    """With a text: its ``signature`` and ``occurrences``. Without: the ``frequent`` errors and newest occurrences."""

    scope: str
    signature: str
    occurrences: tuple[Occurrence, ...]
    frequent: tuple[Frequent, ...]
    fresh: Freshness


def failures(app: App, request: FailuresRequest) -> FailuresResult:
    """Find an error again. Raises ``ERR_NO_RECORD``, ``ERR_DATABASE``."""
    fresh = app.refresh()
    window, scope = scope_of(app, everything=request.all, since=request.since, until=request.until)
    limit = request.limit or _LIMIT
    if request.text.strip():
        wanted = _signature(request.text)
        found = tuple(_occurrence(app, row, match) for row, match in _matches(app, wanted, window, limit))
        return FailuresResult(scope, clean(wanted), found, (), fresh)
    most = tuple(
        Frequent(clean(row.last.message), clean(row.signature), row.count, row.resolved, row.sessions, row.last.time,
                 _read_on(row.last))
        for row in most_frequent(app.reader(), window, request.limit or app.config["search.limit"])
    )  # fmt: skip
    latest = tuple(_occurrence(app, row, 1.0, told=False) for row in newest(app.reader(), window, limit))
    return FailuresResult(scope, "", latest, most, fresh)


def _signature(text: str) -> str:
    made = signature(text)
    return made[0] if made is not None else normalised(text.strip().partition("\n")[0])


def _matches(app: App, wanted: str, window: Window, limit: int) -> list[tuple[FailureRow, float]]:
    """Return the same error first, then those most like it."""
    reader = app.reader()
    found = [(row, 1.0) for row in occurrences(reader, wanted, window, limit)]
    if len(found) < limit:
        others = (one for one in signatures(reader, window) if one != wanted)
        for alike in most_alike(wanted, others, limit - len(found)):
            rows = occurrences(reader, alike.signature, window, 1)
            found += [(row, alike.score) for row in rows]
    return found


def _occurrence(app: App, row: FailureRow, match: float, *, told: bool = True) -> Occurrence:
    resolution = _resolution(app, row, told=told) if row.resolved_row is not None else None
    return Occurrence(
        clean(row.message), clean(row.signature), match, row.tool, clean(row.subject), row.time, row.record, row.thread,
        row.session, row.host, row.project, resolution, _read_on(row),
    )  # fmt: skip


def _read_on(row: FailureRow) -> str:
    return record_command("thread", row.thread) if row.thread else record_command("block", row.record)


def _resolution(app: App, row: FailureRow, *, told: bool) -> Resolution | None:
    """Tell what was done between the failure and the success; the last steps when they are many."""
    loader = app.loader()
    found = loader.rows("id=?", (row.resolved_row,))
    if not found:
        return None
    between = loader.rows(
        f"session_id=? and id>? and id<? and kind in ({_REPLY}, {_CALL})",
        (row.session_row, row.record_row, row.resolved_row),
    )
    loaded: list[Loaded] = []
    for one in between[-_BETWEEN:] if told else ():
        try:
            loaded += loader.load([one])
        except FabulaError:
            continue  # a step that cannot be read any more is not told
    made = steps((one.record for one in loaded), clean)
    return Resolution(found[0].uid, tuple(made[-_STEPS:]), max(0, len(made) - _STEPS) + max(0, len(between) - _BETWEEN))
