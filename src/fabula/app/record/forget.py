"""The verb ``record forget``: the one way to remove something from the record for good.

Everything is taken in first, so that nothing of it turns up later; then what goes is found and shown; a person agrees;
it is erased from the vault in one transaction, the map is made anew without it, and a scan never takes it in again.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from fabula.app.access import SCAN_WAIT_SECONDS
from fabula.app.consent import require_consent
from fabula.app.record.forget_lines import preview_lines
from fabula.kernel.errors import FabulaError
from fabula.kernel.values import field, frozen, replace
from fabula.record.forgetting.wanted import Named, read_pattern, want

if TYPE_CHECKING:
    import re

    from fabula.app.record.forget_sources import CutFile
    from fabula.app.wiring import App
    from fabula.record.forgetting.plan import Plan
    from fabula.record.forgetting.quotes import HandedOut, Quoting
    from fabula.record.forgetting.survey import Doomed
    from fabula.record.map.files import KnownFile
    from fabula.record.scan.report import Progress
    from fabula.record.vault.journal import Journal

WORD = "forget"


@frozen
class ForgetRequest:
    """``targets``: sessions, threads, records (``record``: records alone; a thread often has the id of its first one).

    ``pattern``: whatever holds this text (``regex``: matches it). ``sources``: also out of the agent's own transcripts.
    ``apply``: not only a preview.
    """

    targets: tuple[str, ...] = ()
    pattern: str = ""
    regex: bool = False
    record: bool = False
    sources: bool = False
    apply: bool = False
    progress: Progress | None = None


@frozen
class HitFile:
    """A file that something goes from. ``on_disk``: the agent's own file is still there, and still holds it."""

    path: str
    session: str
    generations: int
    records: int
    bytes: int
    whole: bool
    on_disk: bool
    named: bool  # its session, or a part of it, was named


@frozen
class Erased:
    """What was done to the vault's files."""

    packs: int
    freed: int
    unreadable: list[str]


@frozen
class ForgetResult:
    """What goes, or what went (``applied``).

    ``records`` counts records with an id, each once; ``others`` records without one and stretches that are no record;
    ``bytes`` are distinct bytes. ``staying`` counts records that a named session only repeats of another one.
    """

    applied: bool
    targets: list[Named]
    pattern: str
    sessions: list[str]  # that go as a whole
    threads: list[str]
    records: int
    others: int
    bytes: int
    files: list[HitFile]
    staying: int
    attached: int  # titles, pins and cards of people and agents that go with it
    unread: int  # damaged records that nobody could look into: a repair may bring them back
    handed_out: list[HandedOut] = field(default_factory=list)
    quoting: list[Quoting] = field(default_factory=list)
    cutting: list[str] = field(default_factory=list)  # transcripts of the agent that are cut too
    cut: list[CutFile] = field(default_factory=list)
    erased: Erased | None = None


def forget(app: App, request: ForgetRequest) -> ForgetResult:
    """Preview or do it. Raises ``ERR_USAGE``, ``ERR_NOT_FOUND``, ``ERR_AMBIGUOUS``, ``ERR_CONSENT``, ``ERR_LOCKED``,
    ``ERR_DISK``, ``ERR_READ_ONLY``, ``ERR_DATABASE``; with ``sources`` also ``ERR_LIVE``, ``ERR_CHAIN``,
    ``ERR_CHANGED``, ``ERR_UNSEALED``: then nothing was forgotten.
    """
    if not request.targets and not request.pattern:
        raise FabulaError("ERR_USAGE", "nothing was named that should be forgotten", "fabula record forget ID")
    pattern = read_pattern(request.pattern, is_regex=request.regex) if request.pattern else None
    app.record.scan(progress=request.progress)
    plan, named = _plan(app, request, pattern)
    result = _result(app, request, plan, named)
    if not plan.doomed and not plan.attached:
        what = f"holds {request.pattern!r}" if request.pattern else "of it is in the vault"
        raise _nothing(what, plan.unread)
    if not request.apply:
        return result
    if result.cutting:
        from fabula.app.record.forget_sources import require_all_idle

        require_all_idle(app, result.cutting)
    require_consent(preview_lines(result), WORD, command_of(request))
    cut = _cut(app, plan, result.cutting)
    erased = _apply(app, plan)
    app.record.scan(rebuild=True, progress=request.progress)
    return replace(result, applied=True, erased=erased, cut=cut)


def _nothing(what: str, unread: int) -> FabulaError:
    if not unread:
        return FabulaError("ERR_NOT_FOUND", f"nothing {what}", "fabula record search WORDS")
    return FabulaError(
        "ERR_NOT_FOUND", f"nothing that can be read {what}; damaged, and not looked into: {unread:,} records",
        "fabula record verify --repair",
    )  # fmt: skip


def command_of(request: ForgetRequest) -> str:
    """Return the command that asks for the same, safe to be given to a shell."""
    from shlex import join

    flags = [f"--{name}" for name in ("regex", "record", "sources") if getattr(request, name)]
    pattern = [f"--pattern={request.pattern}"] if request.pattern else []
    targets = ["--", *request.targets] if any(each.startswith("-") for each in request.targets) else request.targets
    return join(["fabula", "record", "forget", *pattern, *flags, "--apply", *targets])


def _cut(app: App, plan: Plan, paths: list[str]) -> list[CutFile]:
    if not paths:
        return []
    from fabula.app.record.forget_sources import cut_sources

    return cut_sources(app, plan, paths)


def _cuttable(plan: Plan) -> list[str]:
    from fabula.app.record.forget_sources import cuttable

    return cuttable(plan)


def _plan(app: App, request: ForgetRequest, pattern: re.Pattern[str] | None) -> tuple[Plan, list[Named]]:
    from fabula.record.forgetting.plan import make_plan
    from fabula.record.loader import by_host
    from fabula.record.vault.vault import Vault

    wanted, named = want(
        app.reader(), app.loader(), request.targets, pattern,
        ("record",) if request.record else ("session", "thread", "record"),
    )  # fmt: skip
    with Vault.open(app.home.vault, app.clock, read_only=True) as vault:
        plan = make_plan(vault, app.reader(), by_host(app.sources()), _known(app), wanted)
    return plan, named


def _known(app: App) -> dict[int, KnownFile]:
    from fabula.record.map.files import all_files

    return {one.vault_generation: one for one in all_files(app.reader()) if one.vault_generation is not None}


def _apply(app: App, plan: Plan) -> Erased:
    """Erase under both locks. The map goes first: it is derived, and must not outlive what it was made of."""
    from fabula.app.holdings import remove_derived
    from fabula.record.forgetting.plan import hit_now
    from fabula.record.loader import by_host
    from fabula.record.vault.erasing import erase
    from fabula.record.vault.vault import Vault
    from fabula.storage.locks import FileLock

    with FileLock(app.home.lock, SCAN_WAIT_SECONDS), Vault.open(app.home.vault, app.clock) as vault:
        doomed = hit_now(plan, vault, by_host(app.sources()), _known(app))
        app.record.close()
        remove_derived(app.home.root)
        try:
            swept = erase(app.home.vault, vault.journal, plan.erasure(doomed), app.clock.now_ms())
        except FabulaError as error:
            raise _said_how_far(error, vault.journal) from error
    return Erased(swept.packs, swept.freed, swept.unreadable)


def _said_how_far(error: FabulaError, journal: Journal) -> FabulaError:
    """Return the error of an erasure; behind the commit point with what is done already, and what finishes it."""
    from fabula.record.vault.erasing import is_unfinished

    try:
        unfinished = is_unfinished(journal)
    except FabulaError:
        unfinished = False
    if not unfinished or error.code == "ERR_LOCKED":  # which says it itself
        return error
    message = f"{error.message}; it cannot be reached any more, but is not yet erased from every file"
    return FabulaError(error.code, message, *error.suggestions, "fabula record scan")


def _result(app: App, request: ForgetRequest, plan: Plan, named: list[Named]) -> ForgetResult:
    from fabula.record.forgetting.quotes import handed_out, quoting
    from fabula.record.vault.journal import Journal

    wanted = plan.wanted
    threads = {uid for kind, uid in plan.whole if kind == "thread"} | wanted.threads
    journal = Journal.open(app.home.vault, read_only=True)
    try:
        handed = handed_out(journal, plan.uids)
    finally:
        journal.close()
    return ForgetResult(
        applied=False,
        targets=named,
        pattern=request.pattern,
        sessions=[uid for kind, uid in plan.whole if kind == "session" and uid],
        threads=[uid for kind, uid in plan.whole if kind == "thread"],
        records=len(plan.uids),
        others=len(plan.unnamed),
        bytes=sum(plan.seen.values()),
        files=_files(plan),
        staying=len(wanted.others),
        attached=len(plan.attached),
        unread=plan.unread,
        handed_out=handed,
        cutting=_cuttable(plan) if request.sources else [],
        quoting=quoting(app.reader(), plan.phrases, plan.rows, plan.uids, threads),
    )


def _files(plan: Plan) -> list[HitFile]:
    paths: dict[str, list[Doomed]] = {}
    for one in plan.doomed:
        paths.setdefault(one.entry.path, []).append(one)
    near = plan.wanted.sessions | plan.wanted.named
    hits = [
        HitFile(
            path,
            (entry := found[-1].entry).session,
            len(found),
            max(one.records for one in found),
            max(one.size for one in found),
            all(not one.left for one in found) and len(found) == len(entry.generations),
            os.path.lexists(path.partition("#")[0]) and found[-1].generation.id == entry.generations[-1].id,
            bool(near & {entry.session, entry.parent}),
        )
        for path, found in sorted(paths.items())
    ]
    return sorted(hits, key=lambda one: (not one.named, -one.records))
