"""The verb ``record compose``: a new session that can be resumed, made of chosen threads."""

from __future__ import annotations

import os
from pathlib import Path
from shlex import join
from typing import TYPE_CHECKING

from fabula.app.record.reading import clean, given_titles, load_each, one_line, opening_of
from fabula.hosts.claude.composing import ClaudeComposer
from fabula.kernel.commands import record_command
from fabula.kernel.errors import FabulaError
from fabula.kernel.tokens import estimate_tokens
from fabula.kernel.values import frozen
from fabula.record.composing.cards import card_text
from fabula.record.composing.choosing import choose
from fabula.record.composing.ids import SEED_BYTES, FreshIds
from fabula.record.composing.parts import Heading, Part
from fabula.record.composing.retelling import retell
from fabula.record.reading.catalogue import session_by_row, sources_of_session, thread_by_row, threads_of_session
from fabula.record.reading.identify import identify, thread_of
from fabula.record.reading.order import reading_order

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fabula.app.access import Freshness
    from fabula.app.wiring import App
    from fabula.record.composing.parts import Composer
    from fabula.record.reading.catalogue import SessionRow, ThreadRow

CARD = "records for which the card stands"
#: The client writes titles to terminals: control characters of a transcript become blanks.
_CONTROLS = dict.fromkeys((*range(32), *range(127, 160)), " ")


@frozen
class ComposeRequest:
    """``threads`` in the order wanted: threads, records in them, or sessions (all their threads).

    ``cwd`` is where the new session belongs to, else where the first thread's does. ``cards``: the threads' cards
    instead of their records. Without ``apply`` nothing is written.
    """

    threads: tuple[str, ...]
    title: str | None = None
    cwd: Path | None = None
    cards: bool = False
    no_thoughts: bool = False
    apply: bool = False


@frozen
class ComposedThread:
    """What goes in of one thread. ``left_out`` counts records by the reason why they stay out; sizes with the seam."""

    id: str
    session: str
    opening: str
    records: int
    bytes: int
    tokens: int
    left_out: dict[str, int]


@frozen
class ComposeResult:
    """The new session, or what it would be: then ``session``, ``path`` and ``resume`` are empty.

    ``next`` is the command that makes it then.
    """

    applied: bool
    session: str
    path: str
    resume: str
    title: str
    host: str
    cwd: str
    folder: str
    threads: tuple[ComposedThread, ...]
    records: int
    bytes: int
    tokens: int
    notes: tuple[str, ...]
    next: str
    fresh: Freshness


@frozen
class _Chosen:
    part: Part
    characters: int


def compose(app: App, request: ComposeRequest) -> ComposeResult:
    """Compose a session, or show what composing would give.

    Threads of other agents are retold as text. Raises ``ERR_NOT_FOUND`` (also where a card is wanted and there is
    none), ``ERR_AMBIGUOUS``, ``ERR_USAGE`` for a thread named twice, ``ERR_PATH``, ``ERR_READ_ONLY``, ``ERR_DISK``,
    ``ERR_STALE``.
    """
    fresh = app.refresh()
    composer = ClaudeComposer()
    threads = _threads(app, request.threads)
    sessions = [_session(app, thread) for thread in threads]
    chosen = [
        _choose(app, thread, session, composer, request) for thread, session in zip(threads, sessions, strict=True)
    ]
    cwd, notes = _cwd(app, request, sessions)
    chosen, empty = _fruitful(chosen)
    notes += empty
    folder = composer.folder(_root(app, sessions[0]), cwd)
    ids = FreshIds(app.entropy(SEED_BYTES))
    heading = Heading(ids.uuid("session"), _title(request, chosen), cwd, app.clock.now_ms())
    written = composer.write(heading, [one.part for one in chosen], ids)
    lines = tuple(_line(one, data) for one, data in zip(chosen, written.parts, strict=True))
    path = folder / composer.file_name(heading.session)
    resume = ""
    if request.apply:
        fresh = _create(app, path, written.data)
        resume = _resume(app, heading.session, notes)
    return ComposeResult(
        applied=request.apply,
        session=heading.session if request.apply else "",
        path=str(path) if request.apply else "",
        resume=resume,
        title=heading.title,
        host=composer.host,
        cwd=cwd,
        folder=str(folder),
        threads=lines,
        records=sum(line.records for line in lines),
        bytes=len(written.data),
        tokens=sum(line.tokens for line in lines),
        notes=tuple(notes),
        next="" if request.apply else _again(request),
        fresh=fresh,
    )


def _again(request: ComposeRequest) -> str:
    """Return the command that applies what was previewed."""
    words = ["fabula", "record", "compose", *request.threads]
    words += ["--title", request.title] if request.title is not None else []
    words += ["--cwd", str(request.cwd)] if request.cwd is not None else []
    words += ["--cards"] if request.cards else []
    words += ["--no-thoughts"] if request.no_thoughts else []
    return join([*words, "--apply"])


# ── which threads ────────────────────────────────────────────────────


def _threads(app: App, names: Sequence[str]) -> list[ThreadRow]:
    reader = app.reader()
    found: dict[int, ThreadRow] = {}
    for name in names:
        target = identify(reader, name, "thread", "session", "record")
        if target.kind == "session":
            rows = threads_of_session(reader, target.id)
            if not rows:
                raise FabulaError(
                    "ERR_NOT_FOUND", f"session {target.uid} has no threads", record_command("session", target.uid)
                )
        else:
            rows = [thread_by_row(reader, thread_of(reader, target))]
        for row in rows:
            if row.row in found:
                raise FabulaError("ERR_USAGE", f"thread {row.id} is named twice", "name each thread once")
            found[row.row] = row
    return list(found.values())


def _session(app: App, thread: ThreadRow) -> SessionRow:
    for (number,) in app.reader().execute("select session_id from threads where id = ?", (thread.row,)):
        return session_by_row(app.reader(), number)
    raise FabulaError("ERR_NOT_FOUND", f"thread {thread.id} belongs to no session", "fabula record rebuild")


def _choose(app: App, thread: ThreadRow, session: SessionRow, composer: Composer, request: ComposeRequest) -> _Chosen:
    title = given_titles(app, "thread").get(thread.id) or opening_of(app, thread.row)
    rows = reading_order(app.loader().rows_of_thread(thread.row))
    card = _card(app, thread) if request.cards else ""
    if card:
        part = Part(
            thread.id, session.id, title, thread.first_time, thread.last_time, (), {CARD: len(rows)}, clean(card)
        )
        return _Chosen(part, len(card))
    loaded, _ = load_each(app, rows)
    retold = session.host != composer.host
    taken = retell(loaded, composer) if retold else choose(loaded, composer, thoughts=not request.no_thoughts)
    part = Part(
        thread.id, session.id, title, thread.first_time, thread.last_time, taken.records, taken.left_out, retold=retold
    )
    return _Chosen(part, taken.characters)


def _fruitful(chosen: Sequence[_Chosen]) -> tuple[list[_Chosen], list[str]]:
    """Return the threads of which something goes in, and a sentence for each other one. Raises ``ERR_NOT_FOUND``."""
    kept = [one for one in chosen if one.part.records or one.part.card]
    notes = []
    for one in chosen:
        if one not in kept:
            reasons = ", ".join(f"{reason} ({count})" for reason, count in one.part.left_out.items())
            notes.append(f"nothing of thread {one.part.thread} can be taken over: {reasons or 'it is empty'}")
    if not kept:
        raise FabulaError("ERR_NOT_FOUND", notes[0], record_command("thread", chosen[0].part.thread))
    return kept, notes


def _card(app: App, thread: ThreadRow) -> str:
    from fabula.record.vault.keepsakes import Keepsakes

    vault = app.vault()
    card = Keepsakes(vault.journal, app.clock).cards().get(thread.id) if vault is not None else None
    if card is None:
        raise FabulaError(
            "ERR_NOT_FOUND",
            f"thread {thread.id} has no card",
            f"take its records: {record_command('compose', thread.id)}",
        )
    return card_text(card)


# ── where it goes, and how it is called ──────────────────────────────


def _cwd(app: App, request: ComposeRequest, sessions: Sequence[SessionRow]) -> tuple[str, list[str]]:
    """Return the folder that the session belongs to, links resolved as the agent does, and what to know of it."""
    if request.cwd is not None:
        if not request.cwd.is_dir():
            raise FabulaError("ERR_PATH", f"{request.cwd} is not a folder", "name a folder that exists: --cwd DIR")
        return os.path.realpath(request.cwd), []
    named = list(dict.fromkeys(session.cwd for session in sessions if session.cwd))
    notes = []
    if len(named) > 1:
        notes.append(f"the threads come from {len(named)} folders; the session belongs to the first: {named[0]}")
    cwd = named[0] if named else str(app.cwd)
    if not Path(cwd).is_dir():
        notes.append(f"this folder is gone; to resume elsewhere: --cwd DIR ({cwd})")
        return cwd, notes
    return os.path.realpath(cwd), notes


def _root(app: App, session: SessionRow) -> Path:
    """Return the agent's folder: the one that the first thread was read from, else the first that is configured."""
    roots: list[Path] = list(app.config["record.claude_roots"])
    if not roots:
        raise FabulaError("ERR_CONFIG", "no folder of Claude Code is configured", "fabula config record.claude_roots")
    paths = [Path(source.path) for source in sources_of_session(app.reader(), session.row)]
    return next((root for root in roots if any(path.is_relative_to(root) for path in paths)), roots[0])


def _title(request: ComposeRequest, chosen: Sequence[_Chosen]) -> str:
    given = " ".join((request.title or "").translate(_CONTROLS).split())
    if given:
        return given
    more = len(chosen) - 1
    rest = f" (and {more} more {'thread' if more == 1 else 'threads'})" if more else ""
    return one_line(chosen[0].part.title.translate(_CONTROLS) or "composed session") + rest


def _line(one: _Chosen, data: bytes) -> ComposedThread:
    part = one.part
    tokens = estimate_tokens(one.characters)
    return ComposedThread(part.thread, part.session, part.title, len(part.records), len(data), tokens, part.left_out)


# ── writing ──────────────────────────────────────────────────────────


def _create(app: App, path: Path, data: bytes) -> Freshness:
    """Write the file, then seal and map it."""
    from fabula.storage.files import create_atomic, ensure_folder

    ensure_folder(path.parent)
    create_atomic(path, data)
    return app.refresh()


def _resume(app: App, session: str, notes: list[str]) -> str:
    from fabula.app.record.resume import ResumeRequest, resume

    try:
        return resume(app, ResumeRequest(session, print_only=True)).shell
    except FabulaError as error:
        notes.append(f"the session is written, and not in the record yet: {error.message}")
        return ""
