"""Many memories in one commit: all or nothing, unless asked to go on; what came of each is told in its place.

All files are made and looked at before the lock is taken. Under it each operation is decided in order: is the fact
known, to the store or to an earlier operation; which path is free. Then there is one commit, or none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabula.kernel.collector import collector_paused
from fabula.kernel.errors import FabulaError
from fabula.kernel.values import replace
from fabula.memory.format.paths import normalise
from fabula.memory.store.drafting import Prepared, prepared
from fabula.memory.store.guards import require_ends
from fabula.memory.store.messages import change_message
from fabula.memory.store.placing import Paths
from fabula.memory.store.slots import Claim, claim_of, conflicts_of, last_of_each, superseded_by
from fabula.memory.store.stamps import winner_bytes
from fabula.memory.store.superseding import loser_move, valid_from_of
from fabula.memory.store.values import Applied, Batch, NewMemory, Outcome, Pair, Provenance, Summary, Text
from fabula.memory.store.writing import as_replacement, known_fact, notices_of, replaced_file, same_text
from fabula.storage.git.values import Put

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fabula.memory.format.reader import Reading
    from fabula.memory.store.moment import Moment
    from fabula.memory.store.store import Store, Work
    from fabula.memory.store.values import Similar
    from fabula.storage.git.values import Change

ALL_OR_NOTHING = Batch()
Made = Prepared | FabulaError
Stored = dict[str, list[tuple[str, str]]]


def apply(store: Store, operations: Sequence[NewMemory | FabulaError], how: Batch = ALL_OR_NOTHING) -> Applied:
    """Write many memories in one commit. An operation that is an error counts as one that failed, in its place.

    Raises only what concerns the batch as a whole: ``ERR_LOCKED``, ``ERR_DIRTY``, ``ERR_GIT``, ``ERR_DISK`` …; then
    nothing was written.
    """
    with collector_paused():
        return _applied(store, operations, how)


def _applied(store: Store, operations: Sequence[NewMemory | FabulaError], how: Batch) -> Applied:
    moment = store.moment()
    made = [_made(store, one, moment, how) for one in operations]
    near, checked = _near(store, made, wanted=how.near_duplicates)
    with store.writing(moment) as work:
        fold = _Fold(work, operations, made, how)
        fold.decide()
        changes = [] if fold.is_aborted else fold.changes()
        committed = work.commit(fold.message(), changes, fold.readings()) if changes else None
        results = tuple(replace(one, near=near.get(one.index, ())) for one in fold.outcomes())
        return Applied(
            committed.id if committed is not None else None,
            work.base.commit,
            results,
            _summary(results),
            tuple((pair.loser, there) for pair, there in fold.archived) if committed is not None else (),
            checked,
            (*work.notices, *fold.notices),
        )


class _Fold:
    """The decisions of a batch, one operation after the other."""

    def __init__(self, work: Work, operations: Sequence[NewMemory | FabulaError], made: list[Made], how: Batch) -> None:
        self._work = work
        self._operations = operations
        self._made = made
        self._how = how
        self._paths = Paths(work.base)
        self._claims = [claim for index in range(len(made)) if (claim := self._claim(index)) is not None]
        self._facts: dict[str, str] = {}  # fact hash -> path, of earlier operations
        self._texts: dict[str, str] = {}  # content hash -> path, of earlier operations
        self._files: dict[int, tuple[Prepared, Put]] = {}
        self._outcomes: dict[int, Outcome] = {}
        self._merged: dict[int, int] = {}
        self.archived: list[tuple[Pair, str]] = []
        self.notices: list[str] = []
        self.is_aborted = False

    def decide(self) -> None:
        """Decide all operations; stop at the first that fails unless asked to go on."""
        stored = self._stored()
        conflicts = conflicts_of(self._claims, stored) if self._how.detect_conflicts else {}
        able = [claim for claim in self._claims if isinstance(self._made[claim.index], Prepared)]
        carried, self._merged = last_of_each(able) if self._how.last_wins else ({}, {})
        for index in range(len(self._made)):
            if self.is_aborted or index in self._merged:
                outcome = Outcome(index, skipped=True)
            else:
                outcome = self._decided(index, carried.get(index, index))
            self._outcomes[index] = replace(outcome, conflict=conflicts.get(index))
        if self.is_aborted:
            return
        if self._how.last_wins:
            self._take_over({claim.index: claim for claim in able}, carried, stored)

    def changes(self) -> list[Change]:
        """Return what the one commit changes."""
        files = {index: put for index, (_, put) in self._files.items()}
        moves: list[Change] = []
        for pair, there in self.archived:
            index = next(at for at, put in files.items() if put.path == pair.winner)
            loser = self._work.base.memory(pair.loser)
            since = valid_from_of(self._files[index][0].reading, self._work.moment)
            put = files[index]
            files[index] = Put(put.path, winner_bytes(put.data, there, since), put.replaces)
            moves.append(loser_move(loser, there, pair.winner, since, self._work.moment))
        return [*files.values(), *moves]

    def readings(self) -> dict[str, Reading]:
        """Return what was read of the files that are written as they were made."""
        winners = {pair.winner for pair, _ in self.archived}
        return {put.path: file.reading for file, put in self._files.values() if put.path not in winners}

    def outcomes(self) -> list[Outcome]:
        """Return what became of each operation, in order."""
        return [self._final(self._outcomes[index]) for index in range(len(self._made))]

    def message(self) -> str:
        """Return the message of the one commit; session and prompt are those of the first that has any."""
        made = [file for file, _ in self._files.values()]
        subject = made[0].document.title if len(made) == 1 else f"{len(made)} memories"
        asked = [one.provenance for one in self._operations if isinstance(one, NewMemory)]
        first = next((one for one in asked if one.session or one.prompt), Provenance())
        return change_message("batch", subject, first)

    # ── one operation ──
    def _decided(self, index: int, carries: int) -> Outcome:
        """Decide what becomes of an operation that carries the content of another one, or its own."""
        file, new = self._made[carries], self._operations[carries]
        if isinstance(file, FabulaError) or isinstance(new, FabulaError):
            return self._failed(index, file if isinstance(file, FabulaError) else None)
        known = self._known(new, file)
        if known is not None:
            return Outcome(index, ok=True, path=known, content_hash=file.content_hash, deduped=True, existing=known)
        try:
            require_ends(self._work.base, new)
            file, put = self._placed(new, file)
        except FabulaError as error:
            return self._failed(index, error)
        self._files[index] = file, put
        alike: tuple[str, ...] = ()
        if new.type != "task":
            earlier = self._texts.setdefault(file.content_hash, put.path)
            alike = same_text(self._work, new.type, file.content_hash, put.path)
            alike += (earlier,) if earlier != put.path else ()
            self._facts[file.fact_hash] = put.path
            self.notices += notices_of(put.path, alike)
        return Outcome(index, ok=True, path=put.path, content_hash=file.content_hash, same_text=alike)

    def _known(self, new: NewMemory, file: Prepared) -> str | None:
        """Return who states a fact already: an earlier operation, or a memory that this one does not replace."""
        if new.type == "task":
            return None
        found = self._facts.get(file.fact_hash) or known_fact(self._work, new, file.fact_hash)
        is_itself = new.if_hash is not None and new.path is not None and found == normalise(new.path)
        return None if is_itself else found

    def _placed(self, new: NewMemory, file: Prepared) -> tuple[Prepared, Put]:
        there = replaced_file(self._work.base, new)
        if there is None:
            return file, Put(self._paths.of(new, self._work.moment), file.data)
        self._paths.over(there)
        file = as_replacement(file, there)
        return file, Put(there.path, file.data, there.blob)

    def _failed(self, index: int, error: FabulaError | None) -> Outcome:
        self.is_aborted = not self._how.continue_on_error
        return Outcome(index, error=error)

    def _final(self, outcome: Outcome) -> Outcome:
        """Return an outcome as it stands once the whole batch is decided."""
        if self.is_aborted:
            return (
                outcome
                if outcome.error is not None
                else Outcome(outcome.index, skipped=True, conflict=outcome.conflict)
            )
        if outcome.index in self._merged:
            slot = self._merged[outcome.index]
            is_kept = self._outcomes[slot].ok
            return replace(outcome, ok=is_kept, skipped=not is_kept, consolidated_into=slot if is_kept else None)
        there = {pair.winner: where for pair, where in self.archived}
        return replace(outcome, superseded=there.get(outcome.path or "") if not outcome.deduped else None)

    # ── slots ──
    def _claim(self, index: int) -> Claim | None:
        new, file = self._operations[index], self._made[index]
        if isinstance(new, FabulaError):
            return None
        text = file.claim if isinstance(file, Prepared) else new.claim
        return claim_of(index, text, is_task=new.type == "task", path=new.path, workspace=new.workspace)

    def _stored(self) -> Stored:
        """Return who holds the slots of this batch: one question, and none where nobody asked."""
        keys = dict.fromkeys(claim.key for claim in self._claims if claim.key is not None)
        if not keys or not (self._how.detect_conflicts or self._how.last_wins):
            return {}
        try:
            return {key: list(rows) for key, rows in self._work.known.frame_holders(keys).items()}
        except FabulaError as error:
            self.notices.append(f"stored memories were not looked at for conflicts: {error}")
            return {}

    def _take_over(self, claims: Mapping[int, Claim], carried: Mapping[int, int], stored: Stored) -> None:
        """Plan which stored memories go to the archive, since the slot that they hold has another value now."""
        written = {put.path for _, put in self._files.values()}  # what a path held before holds no slot now
        for index, (_, put) in self._files.items():
            claim = claims.get(carried.get(index, index))
            loser = superseded_by(claim, put.path, stored) if claim is not None else None
            if loser is None or loser in written or any(pair.loser == loser for pair, _ in self.archived):
                continue
            try:
                held = self._work.base.memory(loser)
            except FabulaError as error:
                self.notices.append(f"{put.path} has not superseded {loser}: {error}")
                continue
            there = self._paths.in_archive(held.path, self._work.moment)
            self.archived.append((Pair(put.path, held.path), there))


def _made(store: Store, one: NewMemory | FabulaError, moment: Moment, how: Batch) -> Made:
    """Return the file of an operation, or why there is none."""
    if isinstance(one, FabulaError):
        return one
    try:
        file = prepared(one, moment)
        store.refuse_secrets([*file.texts, one.path or ""], is_allowed=how.allow_secrets or one.allow_secrets)
    except FabulaError as error:
        return error
    return file


def _near(store: Store, made: Sequence[Made], *, wanted: bool) -> tuple[dict[int, tuple[Similar, ...]], bool | None]:
    """Return, by place, what says nearly the same, and whether that could be told (``None``: nobody asked)."""
    if not wanted:
        return {}, None
    places = [index for index, file in enumerate(made) if isinstance(file, Prepared)]
    files = [file for file in made if isinstance(file, Prepared)]
    texts = [Text(file.document.title, file.claim, file.reading.content.body) for file in files]
    if store.near is None:
        return {}, False
    try:
        answers = store.near.near(texts) if texts else []
    except FabulaError:
        return {}, False
    return {
        place: tuple(_in_batch(one, places) for one in found) for place, found in zip(places, answers, strict=True)
    }, True


def _in_batch(similar: Similar, places: Sequence[int]) -> Similar:
    """Return a finding with the place in the batch that its place among the texts stands for."""
    if similar.batch_index is None:
        return similar
    return replace(similar, batch_index=places[similar.batch_index])


def _summary(results: Sequence[Outcome]) -> Summary:
    return Summary(
        total=len(results),
        written=sum(one.ok and not one.deduped and one.consolidated_into is None for one in results),
        deduped=sum(one.deduped for one in results),
        failed=sum(one.error is not None for one in results),
        skipped=sum(one.skipped for one in results),
        consolidated=sum(one.consolidated_into is not None for one in results),
    )
