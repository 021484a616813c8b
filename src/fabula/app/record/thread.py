"""The verb ``record thread``: one conversation thread, whole or under a token budget."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.app.record.lines import ThreadLine, thread_line
from fabula.app.record.reading import Unreadable, given_titles, pinned, read_thread
from fabula.kernel.tokens import estimate_tokens
from fabula.kernel.values import frozen
from fabula.record.reading.catalogue import session_by_row, thread_by_row, threads_of_session
from fabula.record.reading.exact import ExactBytes, exact
from fabula.record.reading.identify import identify, thread_of
from fabula.record.reading.render import render_thread

if TYPE_CHECKING:
    from fabula.app.access import Freshness
    from fabula.app.wiring import App

UNBOUNDED = 1 << 40  # tokens


@frozen
class ThreadRequest:
    """``id``: a thread, a record in it, or a session (whose threads are listed). No ``budget``: the whole thread."""

    id: str
    budget: int | None = None
    raw: bool = False
    no_sentinel: bool = False


@frozen
class ThreadResult:
    """A rendered thread, or the threads of a session (then only ``session`` and ``threads`` are filled).

    ``text`` is empty when ``raw`` was asked for: ``records`` then holds the bytes of every record, exactly.
    ``origins`` counts records by where their bytes came from: the live file, or the vault.
    """

    session: str
    id: str
    text: str
    tokens: int
    turns: int
    branch_turns: int
    sidechain_turns: int
    cut_pieces: int
    exceeds_budget: bool
    origins: dict[str, int]
    unreadable: tuple[Unreadable, ...]
    records: tuple[ExactBytes, ...]
    threads: tuple[ThreadLine, ...]
    fresh: Freshness


def thread(app: App, request: ThreadRequest) -> ThreadResult:
    """Render a thread. Raises ``ERR_NOT_FOUND``, ``ERR_AMBIGUOUS``, ``ERR_STALE``, ``ERR_VAULT_DAMAGED``."""
    fresh = app.refresh()
    target = identify(app.reader(), request.id, "thread", "session", "record")
    if target.kind == "session":
        return _threads_of(app, target.id, fresh)
    reading = read_thread(app, thread_by_row(app.reader(), thread_of(app.reader(), target)))
    view = reading.view
    shown = render_thread(
        view, budget=UNBOUNDED if request.budget is None else request.budget, sentinel=not request.no_sentinel
    )
    text = "" if request.raw else shown.text
    return ThreadResult(
        view.session,
        view.thread,
        text,
        estimate_tokens(len(text)),
        len(view.main),
        view.branch_turns,
        view.sidechain_turns,
        0 if request.raw else shown.cut_pieces,
        not request.raw and shown.exceeds_budget,
        reading.origins,
        reading.unreadable,
        tuple(exact(one.row.uid, one.raw) for one in reading.loaded if one.raw) if request.raw else (),
        (),
        fresh,
    )


def _threads_of(app: App, session: int, fresh: Freshness) -> ThreadResult:
    titles, pins = given_titles(app, "thread"), pinned(app, "thread")
    lines = [thread_line(app, row, titles, pins) for row in threads_of_session(app.reader(), session)]
    uid = session_by_row(app.reader(), session).id
    return ThreadResult(uid, "", "", 0, 0, 0, 0, 0, False, {}, (), (), tuple(lines), fresh)  # noqa: FBT003
