"""The verb ``memory apply``: many memories at once, one JSON object a line, in one commit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.app.memory.changing import provenance_of, with_consent
from fabula.app.memory.typed import STDIN
from fabula.kernel.errors import Exit, FabulaError
from fabula.kernel.values import frozen

if TYPE_CHECKING:
    from pathlib import Path

    from fabula.app.wiring import App
    from fabula.memory.store.values import Applied, Conflict, Outcome, Similar, Summary


@frozen
class ApplyRequest:
    """Where the lines are (``-`` or nothing: standard input), and how they are applied."""

    file: str = ""
    continue_on_error: bool = False
    detect_conflicts: bool = False
    detect_near_duplicates: bool = False
    consolidate: str | None = None
    session: str = ""
    prompt: str = ""
    turn: str = ""
    allow_secret: bool = False
    corpus: Path | None = None


@frozen
class Line:
    """What became of one operation; every field is there, null or empty where it says nothing."""

    index: int
    ok: bool
    path: str | None
    content_hash: str | None
    deduped: bool
    existing: str | None
    code: str | None
    error: str | None
    skipped: bool
    conflict: Conflict | None
    near_duplicates: tuple[Similar, ...]
    consolidated_into: int | None
    superseded: str | None
    same_text: tuple[str, ...]


@frozen
class ApplyResult:
    """What became of the batch, in the order of its operations.

    ``aborted``: an operation failed and so nothing at all was written. ``commit`` is null where nothing was.
    ``near_duplicates_checked``: null where nobody asked, false where it could not be told.
    """

    results: tuple[Line, ...]
    summary: Summary
    commit: str | None
    aborted: bool
    near_duplicates_checked: bool | None
    notices: tuple[str, ...]

    @property
    def exit_status(self) -> int:
        """Whether everything that was asked was done."""
        return int(Exit.COULD_NOT if self.summary.failed else Exit.DONE)


def apply(app: App, request: ApplyRequest) -> ApplyResult:
    """Apply a batch. Raises ``ERR_USAGE`` naming the line of what is no operation, ``ERR_PATH`` for the file.

    An operation that fails is no error of the batch: it is told in its place, and the exit status says so.
    """
    from fabula.memory.store.batch import apply as apply_all
    from fabula.memory.store.lines import read_lines
    from fabula.memory.store.values import Batch

    access = app.memory_at(request.corpus)
    access.corpus()
    operations = read_lines(_text(app, request.file), provenance_of(request))

    def change(allowed: bool) -> Applied:
        how = Batch(
            continue_on_error=request.continue_on_error,
            detect_conflicts=request.detect_conflicts,
            near_duplicates=request.detect_near_duplicates,
            last_wins=request.consolidate == "last-wins",
            allow_secrets=allowed,
        )
        done = apply_all(access.store(), operations, how)
        if request.allow_secret and not allowed:
            _raise_for_secret(done)
        return done

    done = with_consent(change, may_ask=request.allow_secret)
    if done.commit is not None:
        written = [one.path for one in done.results if one.ok and one.path and not one.deduped]
        access.state().done("wrote", written, request.session, done.moves)
    aborted = done.summary.failed > 0 and not request.continue_on_error
    return ApplyResult(
        tuple(map(_line, done.results)), done.summary, done.commit, aborted, done.near_duplicates_checked,
        (*done.notices, *access.notices),
    )  # fmt: skip


def _raise_for_secret(done: Applied) -> None:
    """Let a person be asked where a secret is all that stands in the way: nothing of an atomic batch is written yet."""
    if done.commit is not None:
        return
    for one in done.results:
        if one.error is not None and one.error.code == "ERR_SECRET":
            raise one.error


def _text(app: App, file: str) -> str:
    if file in ("", STDIN):
        return app.stdin_text()
    try:
        return (app.cwd / file).read_bytes().decode("utf-8", "replace")
    except OSError as error:
        raise FabulaError("ERR_PATH", f"{file}: {error.strerror}", "fabula memory apply FILE") from error


def _line(one: Outcome) -> Line:
    return Line(
        one.index, one.ok, one.path, one.content_hash, one.deduped, one.existing,
        one.error.code if one.error is not None else None, one.error.message if one.error is not None else None,
        one.skipped, one.conflict, one.near, one.consolidated_into, one.superseded, one.same_text,
    )  # fmt: skip
