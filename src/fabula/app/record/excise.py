"""The verb ``record excise``: whole threads out of a session's file."""

from __future__ import annotations

from shlex import join
from typing import TYPE_CHECKING

from fabula.app.record.reading import opening_of
from fabula.app.record.rewriting import find_target, read_snapshot, rewrite
from fabula.hosts.claude.excision import CHAIN, ECHO, changes, excision, is_talk
from fabula.hosts.claude.locate import HOST
from fabula.kernel.commands import record_command
from fabula.kernel.errors import FabulaError
from fabula.kernel.ids import pack_id
from fabula.kernel.tokens import estimate_tokens
from fabula.kernel.values import define, field, frozen
from fabula.record.excising.suggesting import Suggestion, facts_of_file, suggest
from fabula.record.reading.catalogue import thread_by_row
from fabula.record.reading.identify import identify, thread_of
from fabula.record.rewriting.plan import make_plan

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fabula.app.record.rewriting import Target
    from fabula.app.wiring import App
    from fabula.hosts.claude.excision import Excision
    from fabula.record.rewriting.plan import Change, Snapshot

SUGGESTED = 40
_ASKED_AT_ONCE = 500


@frozen
class ExciseRequest:
    """``threads`` of ``session``; none: suggestions. Without ``apply`` nothing is written.

    ``live``: a person takes it on that the session is in use, and is asked at the terminal.
    """

    session: str
    threads: tuple[str, ...] = ()
    apply: bool = False
    live: bool = False


@frozen
class ExcisedThread:
    """A thread that goes: its records in the file, their bytes, and an estimate of what they cost the model."""

    id: str
    opening: str
    records: int
    bytes: int
    tokens: int


@frozen
class SuggestedThread:
    """A thread that could go, and why."""

    id: str
    opening: str
    records: int
    bytes: int
    tokens: int
    reasons: tuple[str, ...]


@frozen
class ExciseResult:
    """What goes, or would go; ``before`` and ``after`` are the file's sizes.

    ``dropped`` lines go, ``relinked`` lines get another parent; of the dropped, ``echoes`` only repeat what goes and
    ``drawn`` are results in other threads. Of the threads' records ``walls`` (compactions) and ``bound`` (one end of a
    call whose other end stays) stay, and so do the files of ``subagents``. ``old`` and ``new`` number the states of the
    file.
    """

    applied: bool
    session: str
    path: str
    threads: tuple[ExcisedThread, ...]
    suggestions: tuple[SuggestedThread, ...]
    before: int
    after: int
    dropped: int = 0
    relinked: int = 0
    echoes: int = 0
    walls: int = 0
    bound: int = 0
    drawn: int = 0
    subagents: int = 0
    tail: int = 0
    old: int | None = None
    new: int | None = None
    next: str = ""  # the command that goes on from here


@define
class _Seen:
    """What the rule found out about the file, for the report."""

    threads: dict[int, list[int]] = field(default_factory=dict)  # thread row -> bytes of its values
    cut: Excision | None = None


def excise(app: App, request: ExciseRequest) -> ExciseResult:
    """Take threads out of a session, or show what that would do.

    Raises ``ERR_NOT_FOUND``, ``ERR_AMBIGUOUS``, ``ERR_STALE``, ``ERR_HOST``, ``ERR_USAGE`` when no thread is named to
    apply or none would be left, ``ERR_CHAIN``; when applied also ``ERR_LIVE``, ``ERR_UNSEALED``, ``ERR_LOCKED``,
    ``ERR_CHANGED``, ``ERR_READ_ONLY``, ``ERR_DISK``, and ``ERR_CONSENT`` for ``live``.
    """
    target = find_target(app, request.session)
    if target.host != HOST:
        raise FabulaError(
            "ERR_HOST",
            f"session {target.session} is of {target.host}: threads are taken out of sessions of {HOST} alone",
            record_command("session", target.session),
        )
    if not request.threads:
        return _suggestions(app, target, apply=request.apply)
    rows = _rows(app, request.threads)
    seen = _Seen()

    def rule(snapshot: Snapshot) -> Sequence[Change]:
        return _rule(app, target, rows, snapshot, seen)

    if not request.apply:
        snapshot = read_snapshot(target)
        plan, before = make_plan(snapshot, rule(snapshot)), len(snapshot.data)
        return _result(app, target, rows, seen, plan.changes, before=before, after=plan.size, following=_again(request))
    if request.live:
        _ask(target, request)
    done = rewrite(app, target, rule, kind="excise", live=request.live)
    app.refresh()
    return _result(
        app, target, rows, seen, done.plan.changes,
        before=done.before, after=done.after, applied=True, tail=done.tail, generations=(done.old, done.new),
        following=record_command("undo", target.session),
    )  # fmt: skip


def _ask(target: Target, request: ExciseRequest) -> None:
    from fabula.app.consent import require_consent

    lines = (
        f"The session {target.session} may be in use.",
        "What its agent writes at the very moment in which the file is replaced can get lost; nothing that is in the",
        "file now can.",
    )
    require_consent(lines, "rewrite", _again(request))


def _again(request: ExciseRequest) -> str:
    """Return the command that applies what was previewed."""
    words = ["fabula", "record", "excise", request.session, *request.threads, "--apply"]
    return join([*words, "--live"] if request.live else words)


# ── what is asked for ────────────────────────────────────────────────


def _rows(app: App, names: Sequence[str]) -> list[int]:
    reader = app.reader()
    return list(dict.fromkeys(thread_of(reader, identify(reader, name, "thread", "record")) for name in names))


def _suggestions(app: App, target: Target, *, apply: bool) -> ExciseResult:
    if apply:
        raise FabulaError(
            "ERR_USAGE", "no thread is named", f"see which could go: {record_command('excise', target.session)}"
        )
    found = suggest(facts_of_file(app.reader(), target.path))[:SUGGESTED]
    lines = tuple(_suggested(app, one) for one in found)
    size = target.file.size
    return ExciseResult(
        applied=False,
        session=target.session,
        path=target.path,
        threads=(),
        suggestions=lines,
        before=size,
        after=size,
    )


def _suggested(app: App, one: Suggestion) -> SuggestedThread:
    return SuggestedThread(one.thread, opening_of(app, one.row), one.records, one.bytes, one.tokens, one.reasons)


# ── the rule ─────────────────────────────────────────────────────────


def _rule(app: App, target: Target, rows: Sequence[int], snapshot: Snapshot, seen: _Seen) -> Sequence[Change]:
    """Find the threads' records in a read of the file, and what must change for them to go."""
    belongs = _threads_of_values(app, target, snapshot)
    members = {index for index, thread in enumerate(belongs) if thread in rows}
    values = [found.value for found in snapshot.values]
    cut = seen.cut = excision(values, members)
    seen.threads = {row: [] for row in rows}
    for index in members & cut.dropped:
        seen.threads[belongs[index] or 0].append(snapshot.values[index].length + 1)
    for row in rows:
        if not seen.threads[row]:
            thread = thread_by_row(app.reader(), row)
            raise FabulaError(
                "ERR_NOT_FOUND",
                f"no record of thread {thread.id} can go from {target.path}",
                record_command("session", target.session),
            )
    if not any(is_talk(value) and index not in members for index, value in enumerate(values)):
        raise FabulaError(
            "ERR_USAGE",
            f"nothing would be left of session {target.session}",
            "leave at least one of its threads in it",
        )
    return changes(snapshot, cut)


def _threads_of_values(app: App, target: Target, snapshot: Snapshot) -> list[int | None]:
    """Return the thread of every value of a file, as the record has it."""
    normaliser = target.source.normaliser(target.file, None)
    uids: list[str] = []
    for found in snapshot.values:
        value = found.value if isinstance(found.value, dict) else {}
        record = normaliser.normalise(value, found.offset, found.length)
        uids.append("" if isinstance(record, str) else record.uid)
    packed = [pack_id(uid) for uid in uids]
    threads: dict[object, int | None] = {}
    for start in range(0, len(packed), _ASKED_AT_ONCE):
        part = packed[start : start + _ASKED_AT_ONCE]
        marks = ",".join("?" * len(part))
        threads.update(app.reader().execute(f"select uid, thread_id from records where uid in ({marks})", part))
    return [threads.get(uid) if uid else None for uid in packed]


# ── the report ───────────────────────────────────────────────────────


def _result(
    app: App,
    target: Target,
    rows: Sequence[int],
    seen: _Seen,
    made: Sequence[Change],
    *,
    before: int,
    after: int,
    following: str,
    applied: bool = False,
    tail: int = 0,
    generations: tuple[int | None, int | None] = (None, None),
) -> ExciseResult:
    cut = seen.cut
    assert cut is not None  # the rule ran
    return ExciseResult(
        applied=applied,
        session=target.session,
        path=target.path,
        threads=tuple(_excised(app, row, seen.threads[row]) for row in rows),
        suggestions=(),
        dropped=sum(change.data is None for change in made),
        relinked=sum(change.why == CHAIN for change in made),
        echoes=sum(change.why == ECHO for change in made),
        walls=len(cut.walls),
        bound=len(cut.bound),
        drawn=len(cut.drawn),
        subagents=_subagents(app, rows),
        before=before,
        after=after,
        tail=tail,
        old=generations[0],
        new=generations[1],
        next=following,
    )


def _excised(app: App, row: int, sizes: Sequence[int]) -> ExcisedThread:
    thread = thread_by_row(app.reader(), row)
    return ExcisedThread(thread.id, opening_of(app, row), len(sizes), sum(sizes), estimate_tokens(sum(sizes)))


def _subagents(app: App, rows: Sequence[int]) -> int:
    """Count the subagents' sessions that worked for the threads: their files stay."""
    marks = ",".join("?" * len(rows))
    found = app.reader().execute(
        "select count(distinct s.id) from records r join sessions s on s.id = r.session_id"
        f" where r.thread_id in ({marks}) and s.kind in ('subagent', 'compaction')",
        tuple(rows),
    )
    return next((int(number) for (number,) in found), 0)
