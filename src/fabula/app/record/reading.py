"""What the reading verbs share: current data first, the scope of a list, and loading that survives a lost record."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.kernel.errors import FabulaError
from fabula.kernel.ids import pack_id
from fabula.kernel.records import Block, Record
from fabula.kernel.values import frozen
from fabula.record.reading.catalogue import Window
from fabula.record.reading.sentinels import stub

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fabula.app.wiring import App
    from fabula.record.loader import Loaded, Row
    from fabula.record.reading.catalogue import SessionRow, ThreadRow
    from fabula.record.reading.turns import ThreadView
    from fabula.record.vault.keepsakes import Keepsakes

OPENING_CHARACTERS = 160
#: Of a prompt that are cleaned before its head is cut: a key of many lines is known by its end.
CLEANED_CHARACTERS = 16_384
_OPENERS = ("prompt", "task")


@frozen
class Unreadable:
    """A record whose bytes could not be had, and why."""

    id: str
    reason: str


@frozen
class ThreadReading:
    """A thread as loaded; ``origins`` counts records by where their bytes came from (``live``, ``vault``)."""

    view: ThreadView
    loaded: tuple[Loaded, ...]
    unreadable: tuple[Unreadable, ...]
    origins: dict[str, int]


def clean(text: str) -> str:
    """Return recorded text as it may be shown: private text and secrets taken out, recalled text stubbed."""
    from fabula.redaction.redact import redact

    return redact(stub(text))


def scope_of(
    app: App, *, everything: bool, host: str = "", since: int | None = None, until: int | None = None
) -> tuple[Window, str]:
    """Return the part of the record that a list looks at, and its name: a project's label or ``all``."""
    if everything or app.config["search.scope"] == "all":
        return Window(None, host, since, until), "all"
    project = app.project_id()
    return Window((project,) if project is not None else (), host, since, until), app.project[1]


def read_thread(app: App, thread: ThreadRow) -> ThreadReading:
    """Load and arrange a thread. A record that cannot be read is shown as such, unless none can.

    Raises ``ERR_STALE``, ``ERR_VAULT_DAMAGED`` when no record of it can be read.
    """
    from fabula.record.reading.order import reading_order
    from fabula.record.reading.turns import view_thread
    from fabula.redaction.redact import redact

    loaded, unreadable = load_each(app, reading_order(app.loader().rows_of_thread(thread.row)))
    view = view_thread(thread.id, thread.session, loaded, redact=redact, exists=lambda uid: _exists(app, uid))
    origins: dict[str, int] = {}
    lost = {one.id for one in unreadable}
    for one in loaded:
        if one.row.uid not in lost:
            origins[one.origin] = origins.get(one.origin, 0) + 1
    return ThreadReading(view, tuple(loaded), unreadable, dict(sorted(origins.items())))


def load_each(app: App, rows: Sequence[Row]) -> tuple[list[Loaded], tuple[Unreadable, ...]]:
    """Load records one by one; a placeholder without bytes stands for one that cannot be read.

    Raises ``ERR_STALE``, ``ERR_VAULT_DAMAGED`` when none can.
    """
    loader = app.loader()
    loaded: list[Loaded] = []
    errors: dict[str, FabulaError] = {}
    for row in rows:
        try:
            loaded += loader.load([row])
        except FabulaError as error:
            errors[row.uid] = error
            loaded.append(_placeholder(row, error))
    if errors and len(errors) == len(rows):
        raise next(iter(errors.values()))
    return loaded, tuple(Unreadable(uid, error.message) for uid, error in errors.items())


def _placeholder(row: Row, error: FabulaError) -> Loaded:
    from fabula.record.loader import Loaded

    text = f"[this record cannot be read: {error.message}]"
    record = Record(row.uid, "", "other", row.role, row.offset, row.length, blocks=[Block("text", text)])
    return Loaded(row, record, b"", "vault")


def _exists(app: App, uid: str) -> bool:
    return app.reader().execute("select 1 from records where uid = ?", (pack_id(uid),)).fetchone() is not None


def opening_of(app: App, thread: int) -> str:
    """Return how a thread began: the head of its first prompt on one line, or "" when it has none that can be read."""
    return openings_of(app, [thread]).get(thread, "")


def openings_of(app: App, threads: Sequence[int]) -> dict[int, str]:
    """Return how threads began, as :func:`opening_of` does, of those that have a prompt that can be read."""
    loader = app.loader()
    found: dict[int, str] = {}
    for thread, row in (loader.openings(threads, _OPENERS) if threads else {}).items():
        try:
            (first,) = loader.load([row])
        except FabulaError:
            continue
        text = " ".join(block.text for block in first.record.blocks if block.kind == "text")
        found[thread] = one_line(clean(text[:CLEANED_CHARACTERS]))
    return found


def one_line(text: str) -> str:
    """Return the head of a text with its blanks and line ends joined."""
    line = " ".join(text.split())
    return line if len(line) <= OPENING_CHARACTERS else line[: OPENING_CHARACTERS - 1] + "…"


def given_titles(app: App, kind: str) -> dict[str, str]:
    """Return the titles that a person gave to sessions or threads."""
    keepsakes = _keepsakes(app)
    return keepsakes.titles(kind) if keepsakes else {}


def pinned(app: App, kind: str) -> frozenset[str]:
    """Return the ids of pinned sessions or threads."""
    keepsakes = _keepsakes(app)
    return frozenset(pin.ref for pin in keepsakes.pins() if pin.kind == kind) if keepsakes else frozenset()


def title_of(app: App, session: SessionRow, titles: dict[str, str]) -> str:
    """Return a session's title: a person's, else the host's, else how its first thread began."""
    if session.id in titles:
        return titles[session.id]
    if session.title:
        return one_line(clean(session.title))
    first = app.reader().execute(
        "select id from threads where session_id = ? order by first_time nulls last, id limit 1", (session.row,)
    )
    return next((opening_of(app, int(thread)) for (thread,) in first), "")


def _keepsakes(app: App) -> Keepsakes | None:
    from fabula.record.vault.keepsakes import Keepsakes

    vault = app.vault()
    return Keepsakes(vault.journal, app.clock) if vault is not None else None
