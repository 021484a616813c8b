"""Committing what people changed by hand: exactly the changed memory files, once all of them keep to the format."""

from __future__ import annotations

from shlex import quote
from typing import TYPE_CHECKING

from fabula.kernel.errors import FabulaError
from fabula.kernel.values import frozen
from fabula.memory.format.gate import LARGEST_FILE
from fabula.memory.handmade.changes import changes_of
from fabula.memory.past.subjects import subject_of
from fabula.storage.git.message import message_text
from fabula.storage.git.values import Put, Remove

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fabula.memory.handmade.changes import HandChange
    from fabula.storage.git.repo import Repo
    from fabula.storage.git.values import Change, Committed

_SHOWN = 10


@frozen
class HandCommit:
    """What was committed; ``committed`` is ``None`` where nothing had changed."""

    committed: Committed | None
    changes: tuple[HandChange, ...]


def commit_changes(
    repo: Repo,
    paths: Sequence[str],
    at: str,
    *,
    session: str = "",
    expected: Sequence[HandChange] | None = None,
) -> HandCommit:
    """Commit the changed memory files, or those among ``paths``, in one commit; nothing else is swept in.

    ``expected``: what the caller saw and agreed to; where files changed since, ``ERR_CHANGED``. Raises
    ``ERR_MEMORY_FORMAT`` with each file that is no memory, its line and what puts it right: nothing is committed then;
    ``ERR_NOT_FOUND`` where paths were named and none of them changed; and as :meth:`Turn.commit`.
    """
    with repo.writing() as turn:
        changes = changes_of(repo, paths)
        if not changes and paths:
            where = quote(str(repo.shop.place.root))
            raise FabulaError("ERR_NOT_FOUND", f"{', '.join(paths)}: no memory changed there", f"git -C {where} status")
        _check(changes)
        if expected is not None and list(expected) != changes:
            raise FabulaError("ERR_CHANGED", "the files changed again meanwhile: nothing was committed", "repeat it")
        wanted = [one for change in changes for one in _of(change)]
        message = message_text(_subject(changes), trailers=[("Memhtml-Session", session)])
        return HandCommit(turn.commit(wanted, message, at) if wanted else None, tuple(changes))


def _check(changes: Sequence[HandChange]) -> None:
    wrong = [f"{change.path}:{finding}" for change in changes for finding in change.findings]
    wrong += [
        f"{change.path}: {len(change.data):,} bytes, at most {LARGEST_FILE:,}"
        for change in changes
        if change.data is not None and len(change.data) > LARGEST_FILE
    ]
    if not wrong:
        return
    more = f"; and {len(wrong) - _SHOWN} more" if len(wrong) > _SHOWN else ""
    fine = [change.path for change in changes if not change.findings]
    raise FabulaError(
        "ERR_MEMORY_FORMAT",
        f"nothing was committed: {'; '.join(wrong[:_SHOWN])}{more}",
        "put it right in an editor, then repeat the command",
        *([f"fabula memory commit {quote(fine[0])}"] if fine else []),
    )


def _of(change: HandChange) -> list[Change]:
    if change.data is None:
        return [Remove(change.path, replaces=change.old)]
    if change.before:
        return [Remove(change.before, replaces=change.old), Put(change.path, change.data)]
    return [Put(change.path, change.data, replaces=change.old)]


def _subject(changes: Sequence[HandChange]) -> str:
    """Name what was done: one change by its title, several by their number."""
    operations = {_operation(change) for change in changes}
    if len(changes) == 1:
        return subject_of(operations.pop(), changes[0].title)
    operation = operations.pop() if len(operations) == 1 else "batch"
    return subject_of("batch" if operation == "write" else operation, f"{len(changes)} memories by hand")


def _operation(change: HandChange) -> str:
    if change.kind == "R":
        archived = change.path.startswith("archive/"), change.before.startswith("archive/")
        return {(True, False): "archive", (False, True): "unarchive"}.get(archived, "edit")
    return "write" if change.kind == "A" else "edit"
