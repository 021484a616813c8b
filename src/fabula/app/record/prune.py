"""The verb ``record prune``: slim a session's transcript, after a preview, by the one protocol of rewriting."""

from __future__ import annotations

from importlib import import_module
from shlex import join
from typing import TYPE_CHECKING, Literal, cast

from fabula.app.record.rewriting import Target, find_target, read_snapshot, rewrite
from fabula.kernel.commands import record_command
from fabula.kernel.errors import FabulaError
from fabula.kernel.values import frozen
from fabula.record.rewriting.plan import make_plan

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fabula.app.wiring import App
    from fabula.record.rewriting.plan import Change, Plan, Snapshot
    from fabula.record.rewriting.protocol import Rewritten
    from fabula.record.rewriting.slimming import Saving, Slimmer, Slimming

Mode = Literal["resume", "extract"]

#: Hosts whose transcripts can be slimmed so that their program still opens them, and who knows their lines.
_SLIMMERS = {"claude": "fabula.hosts.claude.slimming"}


@frozen
class PruneRequest:
    """``session``: an id, a beginning of one, or a transcript's path. Without ``apply`` nothing is written.

    ``extract`` also takes compaction walls out. ``only`` and ``skip`` are categories, joined by commas or repeated.
    ``live``: a person takes it on that the session is in use, and is asked at the terminal.
    """

    session: str
    apply: bool = False
    mode: Mode = "resume"
    strip_images: bool = False
    only: tuple[str, ...] = ()
    skip: tuple[str, ...] = ()
    live: bool = False


@frozen
class CategoryLine:
    """What a category takes out, or would; ``tokens`` are estimated, and 0 for what the model never sees."""

    key: str
    label: str
    chosen: bool
    records: int
    bytes: int
    tokens: int


@frozen
class PruneResult:
    """What was saved, or would be. Sizes in bytes; generations by their numbers, ``None`` when nothing was written.

    ``linked`` counts records that hang off another one now; ``tail`` is what the agent appended meanwhile.
    """

    session: str
    host: str
    path: str
    applied: bool
    categories: tuple[CategoryLine, ...]
    before: int
    after: int
    tokens: int
    dropped: int
    changed: int
    linked: int
    tail: int
    generation: int | None
    slimmed_generation: int | None
    next: str  # the command that goes on from here


def prune(app: App, request: PruneRequest) -> PruneResult:
    """Slim a transcript, or say what that would save.

    Raises ``ERR_NOT_FOUND``, ``ERR_AMBIGUOUS``, ``ERR_STALE`` (gone from disk), ``ERR_HOST``, ``ERR_USAGE`` (no such
    category), ``ERR_CHAIN``; with ``apply`` also ``ERR_LIVE``, ``ERR_CONSENT``, ``ERR_UNSEALED``, ``ERR_CHANGED``,
    ``ERR_LOCKED``, ``ERR_DISK``, ``ERR_READ_ONLY``.
    """
    target = find_target(app, request.session)
    slimmer = _slimmer(target)
    chosen = _chosen(slimmer, request)
    if not request.apply:
        snapshot = read_snapshot(target)
        slimming = slimmer.slim(snapshot, chosen, weigh_others=True)
        return _result(target, slimmer, chosen, slimming, make_plan(snapshot, slimming.changes), _again(request))
    if request.live:
        _ask(target, request)
    made: list[Slimming] = []

    def rule(snapshot: Snapshot) -> Iterable[Change]:
        made.append(slimmer.slim(snapshot, chosen))
        return made[-1].changes

    done = rewrite(app, target, rule, kind="prune", live=request.live)
    undo = record_command("undo", target.session)
    return _result(target, slimmer, chosen, made[-1], done.plan, undo if done.new is not None else "", done)


def _slimmer(target: Target) -> Slimmer:
    module = _SLIMMERS.get(target.host)
    if module is None:
        hosts = ", ".join(_SLIMMERS)
        raise FabulaError(
            "ERR_HOST",
            f"session {target.session} is {target.host}'s: which of its lines can go while its program still opens the "
            f"session is known for {hosts} alone",
            record_command("export", target.session),
        )
    return cast("Slimmer", import_module(module))


def _chosen(slimmer: Slimmer, request: PruneRequest) -> frozenset[str]:
    """Return the categories to take out. Raises ``ERR_USAGE`` for one that does not exist."""
    keys = [category.key for category in slimmer.CATEGORIES]
    only, skip = _words(request.only), _words(request.skip)
    for word in [*only, *skip]:
        if word not in keys:
            raise FabulaError("ERR_USAGE", f"there is no category {word!r}; there are: {', '.join(keys)}")
    chosen = set(only) or {category.key for category in slimmer.CATEGORIES if category.default}
    if request.strip_images:
        chosen.add("images")
    if request.mode == "extract":
        chosen.add("walls")
    return frozenset(chosen - set(skip))


def _words(values: tuple[str, ...]) -> list[str]:
    return [word for value in values for part in value.split(",") if (word := part.strip())]


def _ask(target: Target, request: PruneRequest) -> None:
    from fabula.app.consent import require_consent

    lines = (
        f"The session {target.session} may be in use.",
        "What its agent writes at the very moment in which the file is replaced can get lost; nothing that is in the",
        "file now can.",
    )
    require_consent(lines, "rewrite", _again(request))


def _again(request: PruneRequest) -> str:
    """Return the command that applies what was previewed."""
    words = ["fabula", "record", "prune", request.session, "--apply"]
    words += ["--mode", request.mode] if request.mode != "resume" else []
    words += ["--strip-images"] if request.strip_images else []
    words += [word for value in request.only for word in ("--only", value)]
    words += [word for value in request.skip for word in ("--skip", value)]
    return join([*words, "--live"] if request.live else words)


def _result(
    target: Target,
    slimmer: Slimmer,
    chosen: frozenset[str],
    slimming: Slimming,
    plan: Plan,
    following: str,
    done: Rewritten | None = None,
) -> PruneResult:
    weights: dict[str, Saving] = {saving.key: saving for saving in slimming.savings}
    lines = tuple(
        CategoryLine(each.key, each.label, each.key in chosen, found.records, found.bytes, found.tokens)
        for each in slimmer.CATEGORIES
        if (found := weights[each.key]).records or each.key in chosen
    )
    return PruneResult(
        session=target.session,
        host=target.host,
        path=target.path,
        applied=done is not None and done.new is not None,
        categories=lines,
        before=plan.head,
        after=plan.size,
        tokens=sum(line.tokens for line in lines if line.chosen),
        dropped=plan.dropped,
        changed=plan.changed,
        linked=slimming.linked,
        tail=done.tail if done else 0,
        generation=done.old if done else None,
        slimmed_generation=done.new if done else None,
        next=following if plan.cuts else "",
    )
