"""Cutting what is forgotten out of the agent's own transcripts as well, by the protocol that rewrites them.

Only lines of Claude Code's transcripts go, and only where something of the file stays: a file of which nothing stays is
for its agent to delete. A rewriting seals what it takes away, so the files come first, then the vault forgets.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from fabula.app.record.rewriting import find_target, require_idle, rewrite
from fabula.hosts.claude.excision import changes, excision, is_talk
from fabula.hosts.claude.locate import HOST
from fabula.kernel.errors import FabulaError
from fabula.kernel.hashes import digest
from fabula.kernel.values import frozen
from fabula.record.rewriting.plan import Change

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fabula.app.wiring import App
    from fabula.record.forgetting.plan import Plan
    from fabula.record.rewriting.plan import Snapshot

WHY = "forget"


@frozen
class CutFile:
    """A transcript that was cut: lines that went, and lines that the session cannot do without, which stay there."""

    path: str
    cut: int
    staying: int


def cuttable(plan: Plan) -> list[str]:
    """Return the transcripts on disk from which lines can go."""
    newest = {one.entry.path: one for one in plan.doomed if one.generation.id == one.entry.generations[-1].id}
    return [
        path
        for path, one in sorted(newest.items())
        if one.entry.host == HOST and one.entry.kind == "session" and one.left and Path(path).is_file()
    ]


def require_all_idle(app: App, paths: Sequence[str]) -> None:
    """Raise ``ERR_LIVE`` when one of the sessions is in use, before a person is asked and before any file is cut."""
    for path in paths:
        target = find_target(app, path)
        try:
            require_idle(app, target, target.file)
        except FabulaError as error:
            raise FabulaError(error.code, error.message, error.suggestions[0]) from error  # there is no --live here


def cut_sources(app: App, plan: Plan, paths: Sequence[str]) -> list[CutFile]:
    """Cut every one of them, each whole or not at all.

    Raises as ``app.record.rewriting.rewrite``; what was cut before an error can be put back by ``record undo``.
    """
    return [_cut(app, plan, path) for path in paths]


def _cut(app: App, plan: Plan, path: str) -> CutFile:
    staying: list[int] = []

    def rule(snapshot: Snapshot) -> list[Change]:
        made, kept = _changes(snapshot, plan)
        staying[:] = [kept]
        return made

    done = rewrite(app, find_target(app, path), rule, kind=WHY)
    return CutFile(path, sum(change.data is None for change in done.plan.changes), staying[0] if staying else 0)


def _changes(snapshot: Snapshot, plan: Plan) -> tuple[list[Change], int]:
    """Return what must change for the plan's records to go, and how many of them stay because others need them."""
    values = [found.value for found in snapshot.values]
    members = {
        index for index, value in enumerate(values) if isinstance(value, dict) and value.get("uuid") in plan.uids
    }
    if not any(is_talk(value) and index not in members for index, value in enumerate(values)):
        return [], len(members)
    cut = excision(values, members)
    made = changes(snapshot, cut)
    touched = {change.offset for change in made}
    for found in snapshot.values:
        named = isinstance(found.value, dict) and found.value.get("uuid")
        if not named and found.offset not in touched and digest(snapshot.raw(found)) in plan.seen:
            made.append(Change(found.offset, found.length, None, WHY))
    return sorted(made, key=lambda change: change.offset), len(members - cut.dropped)
