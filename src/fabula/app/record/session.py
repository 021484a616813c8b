"""The verb ``record session``: everything about one session."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.app.joints.session_memories import LinkedMemory, memories_of
from fabula.app.record.lines import SessionLine, ThreadLine, session_line, thread_line
from fabula.app.record.reading import given_titles, pinned
from fabula.kernel.values import frozen
from fabula.record.composing.origins import Origin, origins
from fabula.record.reading.catalogue import (
    LISTED_KINDS,
    ModelUsage,
    SourceRow,
    TouchedFile,
    children,
    files_of_session,
    session_by_row,
    sources_of_session,
    threads_of_session,
    usage_of_session,
)
from fabula.record.reading.identify import identify

if TYPE_CHECKING:
    from fabula.app.access import Freshness
    from fabula.app.wiring import App


@frozen
class SessionRequest:
    """``id``: a session, or a beginning of its id that is unique."""

    id: str


@frozen
class SessionResult:
    """A session with its threads, subagents, continuations, the files it touched, its usage and where it is kept.

    ``memories`` are those that it wrote, read, corrected or judged.

    ``composed_from`` are the threads that it was made from, in their order, where ``record compose`` made it.

    Files and usage include the subagents'; usage counts each API response once.
    """

    session: SessionLine
    threads: tuple[ThreadLine, ...]
    subagents: tuple[SessionLine, ...]
    continued_by: tuple[SessionLine, ...]
    files: tuple[TouchedFile, ...]
    usage: tuple[ModelUsage, ...]
    sources: tuple[SourceRow, ...]
    composed_from: tuple[Origin, ...]
    memories: tuple[LinkedMemory, ...]
    fresh: Freshness


def session(app: App, request: SessionRequest) -> SessionResult:
    """Describe a session. Raises ``ERR_NOT_FOUND``, ``ERR_AMBIGUOUS``, ``ERR_NO_RECORD``."""
    fresh = app.refresh()
    reader = app.reader()
    number = identify(reader, request.id, "session").id
    titles, pins = given_titles(app, "session"), pinned(app, "session")
    names, pinned_threads = given_titles(app, "thread"), pinned(app, "thread")
    line = session_line(app, session_by_row(reader, number), titles, pins)
    return SessionResult(
        line,
        tuple(thread_line(app, row, names, pinned_threads) for row in threads_of_session(reader, number)),
        tuple(session_line(app, row, titles, pins) for row in children(reader, number, ("subagent", "compaction"))),
        tuple(session_line(app, row, titles, pins) for row in children(reader, number, LISTED_KINDS)),
        tuple(files_of_session(reader, number)),
        tuple(usage_of_session(reader, number)),
        tuple(sources_of_session(reader, number)),
        tuple(origins(app.loader(), number)),
        memories_of(app, line.id),
        fresh,
    )
