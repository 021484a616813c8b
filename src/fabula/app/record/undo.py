"""The verb ``record undo``: take the last rewriting of a transcript back, keeping what the agent wrote since."""

from __future__ import annotations

from shlex import quote
from typing import TYPE_CHECKING

from fabula.app.record.rewriting import Target, find_target, read_snapshot, run_planner
from fabula.kernel.values import frozen
from fabula.record.vault.vault import Vault

if TYPE_CHECKING:
    from fabula.app.record.withdrawing import Withdrawal
    from fabula.app.wiring import App
    from fabula.record.rewriting.plan import Plan, Snapshot
    from fabula.record.rewriting.undoing import Undoing
    from fabula.record.vault.values import SourceEntry


@frozen
class UndoRequest:
    """``session``: an id, a beginning of one, or a transcript's path. Without ``apply`` nothing is written."""

    session: str
    apply: bool = False
    live: bool = False


@frozen
class UndoResult:
    """Which rewriting (``kind``, ``made_at`` in ms) is taken back, and to which generation.

    Of a session that was composed (``kind`` ``compose``) the file goes; ``generation`` is the sealed one that keeps it.
    ``kept`` bytes that came after it stay; sizes in bytes.
    """

    session: str
    host: str
    path: str
    applied: bool
    kind: str
    made_at: int
    generation: int
    new_generation: int | None
    before: int
    after: int
    kept: int
    next: str  # the command that goes on from here


def undo(app: App, request: UndoRequest) -> UndoResult:
    """Take the newest rewriting back, or say what that would do.

    Raises ``ERR_NOT_FOUND`` (nothing to undo, or no more), ``ERR_CHANGED`` (the file does not begin with what was
    written; the way out is ``record restore``), ``ERR_VAULT_DAMAGED``, and with ``apply`` as ``record prune``.
    """
    target = find_target(app, request.session)
    composed = _composed(app, target)
    if composed is not None:
        return _withdrawn(app, target, composed, request)
    if not request.apply:
        with Vault.open(app.home.vault, app.clock, read_only=True) as vault:
            found = _found(vault, target, read_snapshot(target))
            return _result(vault, target, found, None, f"fabula record undo {quote(request.session)} --apply")
    if request.live:
        _ask(target, request)
    made: list[Undoing] = []

    def planner(snapshot: Snapshot, vault: Vault, _generation: int) -> Plan:
        made.append(_found(vault, target, snapshot))
        return made[-1].plan

    done = run_planner(app, target, planner, kind="undo", live=request.live, slims=False)
    with Vault.open(app.home.vault, app.clock, read_only=True) as vault:
        return _result(vault, target, made[-1], done.new, "")


def _composed(app: App, target: Target) -> Withdrawal | None:
    """Say how to take back a session that was composed; ``None`` for any other, and while a rewriting of it stands.

    Raises ``ERR_CHANGED`` when the session has gone on since.
    """
    from fabula.app.record.withdrawing import was_composed, withdrawal
    from fabula.record.rewriting.undoing import plan_undo

    snapshot = read_snapshot(target)
    if not was_composed(snapshot):
        return None
    with Vault.open(app.home.vault, app.clock, read_only=True) as vault:
        if plan_undo(vault, _entry(vault, target), snapshot) is not None:
            return None
    return withdrawal(app, target)


def _withdrawn(app: App, target: Target, composed: Withdrawal, request: UndoRequest) -> UndoResult:
    """Remove a composed session's file, or say that it would be."""
    from fabula.app.record.withdrawing import withdraw

    if request.apply:
        withdraw(app, target)
    return UndoResult(
        session=target.session,
        host=target.host,
        path=target.path,
        applied=request.apply,
        kind="compose",
        made_at=composed.made_at,
        generation=composed.generation,
        new_generation=None,
        before=composed.size,
        after=0,
        kept=0,
        next="" if request.apply else f"fabula record undo {quote(request.session)} --apply",
    )


def _found(vault: Vault, target: Target, snapshot: Snapshot) -> Undoing:
    from fabula.record.rewriting.undoing import require_undo

    return require_undo(vault, _entry(vault, target), snapshot)


def _entry(vault: Vault, target: Target) -> SourceEntry:
    return next(entry for entry in vault.sources() if (entry.host, entry.path) == (target.host, target.path))


def _ask(target: Target, request: UndoRequest) -> None:
    from fabula.app.consent import require_consent

    lines = (
        f"The session {target.session} may be in use.",
        "What its agent writes at the very moment in which the file is replaced can get lost.",
    )
    require_consent(lines, "rewrite", f"fabula record undo {quote(request.session)} --apply --live")


def _result(vault: Vault, target: Target, found: Undoing, new: int | None, following: str) -> UndoResult:
    numbers = {each.id: each.number for each in _entry(vault, target).generations}
    return UndoResult(
        session=target.session,
        host=target.host,
        path=target.path,
        applied=new is not None,
        kind=found.link.kind,
        made_at=found.link.made_at,
        generation=numbers[found.link.base],
        new_generation=new,
        before=found.plan.head,
        after=found.plan.size,
        kept=found.appended,
        next=following,
    )
