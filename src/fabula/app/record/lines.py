"""Sessions and threads as lists show them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.app.record.reading import clean, opening_of, title_of
from fabula.kernel.tokens import estimate_tokens
from fabula.kernel.values import frozen

if TYPE_CHECKING:
    from collections.abc import Collection

    from fabula.app.wiring import App
    from fabula.record.reading.catalogue import SessionRow, ThreadRow


@frozen
class SessionLine:
    """One session in a list. ``continues`` is the session that it goes on from; times in ms.

    ``source_gone``: its files are gone, the vault still serves them.
    """

    id: str
    host: str
    kind: str
    project: str
    title: str
    pinned: bool
    cwd: str
    branch: str
    first_time: int | None
    last_time: int | None
    records: int
    threads: int
    subagents: int
    continues: str
    source_gone: bool


@frozen
class ThreadLine:
    """One thread in a list; ``opening`` is how it began, ``tokens`` estimates its prose."""

    id: str
    session: str
    project: str
    title: str
    opening: str
    pinned: bool
    first_time: int | None
    last_time: int | None
    records: int
    sidechain_records: int
    tokens: int


def session_line(app: App, row: SessionRow, titles: dict[str, str], pins: Collection[str]) -> SessionLine:
    """Return the line of a session. ``titles`` are those that a person gave."""
    return SessionLine(
        row.id, row.host, row.kind, row.project, title_of(app, row, titles), row.id in pins, clean(row.cwd),
        clean(row.branch), row.first_time, row.last_time, row.records, row.threads, row.subagents, row.continues,
        row.source_gone,
    )  # fmt: skip


def thread_line(app: App, row: ThreadRow, titles: dict[str, str], pins: Collection[str]) -> ThreadLine:
    """Return the line of a thread. ``titles`` are those that a person gave."""
    return ThreadLine(
        row.id, row.session, row.project, titles.get(row.id, ""), opening_of(app, row.row), row.id in pins,
        row.first_time, row.last_time, row.records, row.sidechain_records, estimate_tokens(row.characters),
    )  # fmt: skip
