"""The verb ``record export``: a session or thread as Markdown, HTML or JSON, secrets and private text taken out."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from fabula.app.record.reading import ThreadReading, Unreadable, clean, given_titles, one_line, read_thread, title_of
from fabula.kernel.clock import format_time
from fabula.kernel.errors import FabulaError
from fabula.kernel.values import frozen
from fabula.record.reading.catalogue import session_by_row, thread_by_row, threads_of_session
from fabula.record.reading.document import Document
from fabula.record.reading.html import to_html
from fabula.record.reading.identify import identify, thread_of
from fabula.record.reading.json_export import to_json
from fabula.record.reading.markdown import to_markdown
from fabula.storage.files import disk_error, write_atomic

if TYPE_CHECKING:
    from fabula.app.access import Freshness
    from fabula.app.wiring import App
    from fabula.record.reading.catalogue import SessionRow, ThreadRow
    from fabula.record.reading.turns import ThreadView

Format = Literal["markdown", "html", "json"]


@frozen
class ExportRequest:
    """``id``: a session, a thread, or a record in one. Without ``output`` the text goes to standard output."""

    id: str
    format: Format = "markdown"
    output: Path | None = None


@frozen
class ExportResult:
    """What was exported. ``text`` is "" when it was written to ``output``."""

    format: Format
    title: str
    threads: int
    turns: int
    unreadable: tuple[Unreadable, ...]
    characters: int
    output: str
    text: str
    fresh: Freshness


def export(app: App, request: ExportRequest) -> ExportResult:
    """Export a session or thread, every turn of it in full.

    Raises ``ERR_NOT_FOUND``, ``ERR_AMBIGUOUS``, ``ERR_STALE``, ``ERR_PATH``, ``ERR_DISK``, ``ERR_READ_ONLY``.
    """
    output = None if request.output is None else _file(request.output)
    fresh = app.refresh()
    session, threads = _wanted(app, request.id)
    readings = _readings(app, threads)
    document = _document(app, session, [reading.view for reading in readings])
    text = _write(document, request.format)
    if output is not None:
        write_atomic(output, text.encode("utf-8", "replace"))
    views = document.threads
    return ExportResult(
        request.format,
        document.title,
        len(views),
        sum(len(view.main) + view.branch_turns + view.sidechain_turns for view in views),
        tuple(one for reading in readings for one in reading.unreadable),
        len(text),
        str(request.output or ""),
        "" if request.output else text,
        fresh,
    )


def _file(output: Path) -> Path:
    """Return the file to write, behind links; a device or pipe is never replaced by a file. Raises ``ERR_PATH``."""
    file = Path(os.path.realpath(output))  # Path.resolve() fails on links that run in a circle
    try:
        fits = file.is_file() if file.exists() else file.parent.is_dir()
    except OSError as error:  # a folder on the way that may not be entered
        raise disk_error(error, output) from error
    if not fits:
        raise FabulaError("ERR_PATH", f"{output} is not a file in an existing folder", "name a file")
    return file


def _wanted(app: App, text: str) -> tuple[SessionRow, list[ThreadRow]]:
    reader = app.reader()
    target = identify(reader, text, "thread", "session", "record")
    if target.kind == "session":
        return session_by_row(reader, target.id), threads_of_session(reader, target.id)
    thread = thread_by_row(reader, thread_of(reader, target))
    return session_by_row(reader, identify(reader, thread.session, "session").id), [thread]


def _readings(app: App, threads: list[ThreadRow]) -> list[ThreadReading]:
    """Read threads; one that is lost as a whole does not cost the others, unless all are."""
    readings: list[ThreadReading] = []
    error: FabulaError | None = None
    for thread in threads:
        try:
            readings.append(read_thread(app, thread))
        except FabulaError as lost:
            error = lost
    if error is not None and not readings:
        raise error
    return readings


def _document(app: App, session: SessionRow, views: list[ThreadView]) -> Document:
    title = title_of(app, session, given_titles(app, "session")) or f"Session {session.id}"
    span = " to ".join(
        format_time(time)[:16].replace("T", " ") for time in (session.first_time, session.last_time) if time
    )
    facts = (
        ("Session", session.id), ("Agent", session.host), ("Project", session.project),
        ("Branch", clean(session.branch)), ("Folder", clean(session.cwd)), ("Time (UTC)", span),
        ("Continues", session.continues),
    )  # fmt: skip
    return Document(one_line(title), facts, tuple(views))


def _write(document: Document, form: Format) -> str:
    if form == "html":
        return to_html(document)
    if form == "json":
        return to_json(document)
    return to_markdown(document)
